#pragma once

#include <string_view>
#include <vector>

#include "text/aligned_translation.h"

namespace nmt {

/// What programs put into a text or read from it, and a translation must have as it stands, from left to right:
///   - addresses: https://..., www...., and of e-mail;
///   - places for values: {name}, {{name}}, ${name}, #{name}, {0}, %s, %1$d, %-5.2f, %(name)s, %@, %1$@, %{name};
///   - expressions of templates, messages of ICU: {{ user | upper }}, {n, plural, one {# file} other {# files}};
///   - <name> is left to the markup, and a lone percent sign or brace is text.
std::vector<ByteRange> find_placeholders(std::string_view text);

}  // namespace nmt
