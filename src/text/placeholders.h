#pragma once

#include <unicode/uversion.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/aligned_translation.h"

U_NAMESPACE_BEGIN
class RegexPattern;
U_NAMESPACE_END

namespace nmt {

/// What programs put into a text or read from it, and a translation must have as it stands, from left to right:
///   - addresses: https://..., www...., and of e-mail;
///   - places for values: {name}, {{name}}, ${name}, #{name}, {0}, %s, %1$d, %-5.2f, %(name)s, %@, %1$@, %{name};
///   - expressions of templates, messages of ICU: {{ user | upper }}, {n, plural, one {# file} other {# files}};
///   - <name> is left to the markup, and a lone percent sign or brace is text.
std::vector<ByteRange> find_placeholders(std::string_view text);

/// Forms of a user's own: regular expressions of ICU.
class PlaceholderPatterns {
 public:
  /// Throws Error that names the one that is none.
  explicit PlaceholderPatterns(std::span<const std::string> patterns);
  ~PlaceholderPatterns();

  /// What they match, from left to right; of those that begin at one place the first one's. One that takes too long
  /// for a match, for it tries too many ways, finds nothing from there on.
  std::vector<ByteRange> find(std::string_view text) const;

 private:
  std::vector<std::unique_ptr<const icu::RegexPattern>> patterns_;
};

}  // namespace nmt
