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
  const auto by_begin = [](const auto& one) { return one.range.begin; };
  std::vector<Replacement> replacements;
  // What comes first wins: a user's own patterns, the usual placeholders, terms.
  const auto add = [&](std::vector<Replacement> more) {
    std::erase_if(more, [&](const Replacement& one) {
      const auto next = std::ranges::partition_point(
          replacements, [&](const Replacement& other) { return other.range.end <= one.range.begin; });
      return next != replacements.end() && next->range.begin < one.range.end;
    });
    replacements.insert(replacements.end(), more.begin(), more.end());
    std::ranges::sort(replacements, {}, by_begin);
  };
  const auto of_ranges = [](const std::vector<ByteRange>& ranges) {
    std::vector<Replacement> found;
    for (const auto& range : ranges) found.push_back({.range = range});
    return found;
  };
  if (request.terms.patterns) add(of_ranges(request.terms.patterns->find(line)));
  if (request.terms.keep_placeholders) add(of_ranges(find_placeholders(line)));
  if (request.terms.glossary) {
    std::vector<Replacement> terms;
    for (const auto& [range, term] : request.terms.glossary->find(line))
      terms.push_back({.range = range, .term = term});
    add(std::move(terms));
  }
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
