#include "translation/lines/replacements.h"

#include <algorithm>
#include <span>

#include "text/placeholders.h"
#include "text/terms.h"

namespace nmt {
namespace {

size_t length_of_any(std::string_view text, std::span<const std::string_view> signs, bool at_end) {
  for (const auto sign : signs)
    if (at_end ? text.ends_with(sign) : text.starts_with(sign)) return sign.size();
  return 0;
}

}  // namespace

std::vector<Replacement> replacements_of(const Request& request) {
  const std::string_view line = request.source;
  const auto placeholders = request.terms.keep_placeholders ? find_placeholders(line) : std::vector<ByteRange>();
  std::vector<Replacement> replacements;
  for (const auto& range : placeholders) replacements.push_back({.range = range});
  if (request.terms.glossary) {
    const auto overlaps = [&](ByteRange range) {
      const auto next =
          std::ranges::partition_point(placeholders, [&](const ByteRange& one) { return one.end <= range.begin; });
      return next != placeholders.end() && next->begin < range.end;
    };
    for (const auto& [range, term] : request.terms.glossary->find(line))
      if (!overlaps(range)) replacements.push_back({.range = range, .term = term});
  }
  std::ranges::sort(replacements, {}, [](const auto& one) { return one.range.begin; });
  return replacements;
}

ByteRange with_brackets(std::string_view line, size_t behind, ByteRange range) {
  static constexpr std::string_view kOpening[] = {"(",      "[",      "{",      "<",      "\"",     "'",
                                                  "\u201E", "\u201C", "\u2018", "\u201A", "\u00AB", "\u00BB"};
  static constexpr std::string_view kClosing[] = {")",      "]",      "}",      ">",      "\"",     "'",
                                                  "\u201D", "\u201C", "\u2019", "\u2018", "\u00BB", "\u00AB"};
  for (;;) {
    const size_t before = length_of_any(line.substr(behind, range.begin - behind), kOpening, true);
    const size_t after = length_of_any(line.substr(range.end), kClosing, false);
    if (before == 0 || after == 0) return range;
    range = {range.begin - before, range.end + after};
  }
}

}  // namespace nmt
