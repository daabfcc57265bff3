#include "translation/lines/term_plan.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/code_points.h"
#include "markup/segments/place_tags.h"
#include "text/terms/glossary.h"
#include "text/terms/placeholders.h"

namespace nmt {
namespace {

/// A stretch of the line and what stands for it in the translation.
struct Replacement {
  TextRange range;
  std::string literal;
  bool is_term = false;
};

std::string_view part(std::string_view text, TextRange range) {
  return text.substr(range.begin, range.end - range.begin);
}

/// From left to right; a placeholder goes before a term within it or around it.
std::vector<Replacement> replacements_of(const TranslationRequest& request) {
  const std::string_view line = request.source;
  std::vector<Replacement> replacements;
  if (request.terms.keep_placeholders) {
    for (const auto& range : find_placeholders(line))
      replacements.push_back({.range = range, .literal = std::string(part(line, range))});
  }
  if (request.terms.glossary) {
    const auto overlaps = [&](TextRange range) {
      return std::ranges::any_of(
          replacements, [&](const auto& one) { return one.range.begin < range.end && range.begin < one.range.end; });
    };
    for (const auto& [range, index] : request.terms.glossary->find(line)) {
      const auto& target = request.terms.glossary->terms()[index].target;
      if (!overlaps(range))
        replacements.push_back(
            {.range = range, .literal = target.empty() ? std::string(part(line, range)) : target, .is_term = true});
    }
  }
  std::ranges::sort(replacements, {}, [](const auto& one) { return one.range.begin; });
  return replacements;
}

/// Bytes of a translation and where they stand when literals are in it.
struct Copied {
  size_t from = 0, to = 0, size = 0;
};

size_t moved(std::span<const Copied> copied, size_t position, bool is_end) {
  for (const auto& [from, to, size] : copied) {
    if (position < from) return to;
    if (position < from + size || (is_end && position == from + size)) return to + (position - from);
  }
  return copied.back().to + copied.back().size;
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool has_letter(std::string_view text) {
  for (size_t i = 0; i < text.size();)
    if (u_isalpha(static_cast<UChar32>(next_code_point(text, i)))) return true;
  return false;
}

size_t length_of_any(std::string_view text, std::span<const std::string_view> signs, bool at_end) {
  for (const auto sign : signs)
    if (at_end ? text.ends_with(sign) : text.starts_with(sign)) return sign.size();
  return 0;
}

/// "(%s)" is cut out as a whole: a model that reads "()" may lose or divide it.
void take_brackets(std::string_view line, size_t behind, TextRange& range, std::string& literal) {
  static constexpr std::string_view kOpening[] = {"(",      "[",      "{",      "<",      "\"",     "'",
                                                  "\u201E", "\u201C", "\u2018", "\u201A", "\u00AB", "\u00BB"};
  static constexpr std::string_view kClosing[] = {")",      "]",      "}",      ">",      "\"",     "'",
                                                  "\u201D", "\u201C", "\u2019", "\u2018", "\u00BB", "\u00AB"};
  for (;;) {
    const size_t before = length_of_any(line.substr(behind, range.begin - behind), kOpening, true);
    const size_t after = length_of_any(line.substr(range.end), kClosing, false);
    if (before == 0 || after == 0) return;
    literal =
        std::string(line.substr(range.begin - before, before)) + literal + std::string(line.substr(range.end, after));
    range = {range.begin - before, range.end + after};
  }
}

}  // namespace

TermPlan::TermPlan(const TranslationRequest& request, const std::function<bool(const std::string&)>& can_write,
                   bool cut_all) {
  const std::string_view line = request.source;
  size_t behind = 0;
  for (auto& [range, literal, is_term] : replacements_of(request)) {
    if (is_term && !cut_all && can_write(literal)) {
      if (std::ranges::find(forced_, literal) == forced_.end()) forced_.push_back(literal);
      continue;
    }
    if (range.begin > behind) take_brackets(line, behind, range, literal);
    text_ += line.substr(behind, range.begin - behind);
    Cut cut{.position = text_.size(),
            .literal = std::move(literal),
            .range = range,
            .space_before = range.begin > 0 && is_blank(line[range.begin - 1]),
            .space_after = range.end < line.size() && is_blank(line[range.end])};
    behind = range.end;
    // One of the two spaces around it is enough for the rest.
    if (cut.space_after && (text_.empty() || is_blank(text_.back()))) ++behind;
    cut.removed = behind - range.begin;
    cuts_.push_back(std::move(cut));
  }
  text_ += line.substr(behind);
  if (!cuts_.empty() && cuts_.back().position == text_.size() && !text_.empty() && is_blank(text_.back())) {
    text_.pop_back();  // nothing follows the space
    for (auto& cut : cuts_)
      if (cut.position > text_.size()) cut.position = text_.size(), ++cut.removed;
  }
  has_words_ = cuts_.empty() || has_letter(text_);
}

bool TermPlan::is_met(std::string_view translation) const {
  return std::ranges::all_of(forced_, [&](const std::string& phrase) { return stands_as_words(translation, phrase); });
}

AlignedTranslation TermPlan::restored(const AlignedTranslation& translation) const {
  if (cuts_.empty()) return translation;
  std::vector<markup::TagSpan> spans;
  for (const auto& cut : cuts_) {
    // What stood against a word or a sign stays with it: "{name}," or "($price)".
    const auto neighbour = !cut.space_before && cut.position > 0 ? markup::TagNeighbour::kLeft
                           : !cut.space_after                    ? markup::TagNeighbour::kRight
                                                                 : markup::TagNeighbour::kNeither;
    spans.push_back({.begin = cut.position, .end = cut.position, .neighbour = neighbour});
  }
  auto events = markup::place_tags(text_, spans, translation);
  std::erase_if(events, [](const markup::TagEvent& event) { return event.closes; });
  AlignedTranslation result;
  std::vector<Copied> copied;
  size_t behind = 0;
  bool wants_space = false;  // the literal that was written last
  const auto copy_to = [&](size_t end) {
    if (wants_space && end > behind && !is_blank(translation.text[behind])) result.text += ' ';
    copied.push_back({.from = behind, .to = result.text.size(), .size = end - behind});
    result.text.append(translation.text, behind, end - behind);
    if (end > behind) wants_space = false;
    behind = end;
  };
  for (const auto& event : events) {
    copy_to(event.position);
    const Cut& cut = cuts_[event.span];
    if ((cut.space_before || wants_space) && !result.text.empty() && !is_blank(result.text.back())) result.text += ' ';
    const size_t begin = result.text.size();
    result.text += cut.literal;
    result.alignment.push_back({cut.range.begin, cut.range.end, begin, result.text.size()});
    wants_space = cut.space_after;
    // Where the translation goes on with the space that stood before the literal, too, one of them is enough.
    const bool doubled = begin > 0 && is_blank(result.text[begin - 1]) && behind < translation.text.size() &&
                         is_blank(translation.text[behind]) && !wants_space;
    if (doubled && behind + 1 < translation.text.size()) ++behind;
  }
  copy_to(translation.text.size());
  for (const auto& words : translation.alignment) {
    result.alignment.push_back({in_line(words.source_begin, false), in_line(words.source_end, true),
                                moved(copied, words.target_begin, false), moved(copied, words.target_end, true)});
  }
  return result;
}

/// Where a byte of text() stands in the line; of the end of a word: what was cut out there comes behind it.
size_t TermPlan::in_line(size_t position, bool is_end) const {
  size_t shift = 0;
  for (const auto& cut : cuts_)
    if (cut.position < position || (!is_end && cut.position == position)) shift += cut.removed;
  return position + shift;
}

}  // namespace nmt
