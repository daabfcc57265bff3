#include "translation/lines/term_plan.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/unicode.h"
#include "text/place_tags.h"
#include "text/terms.h"
#include "text/tokenizer.h"
#include "translation/lines/replacements.h"

namespace nmt {
namespace {

/// Bytes of a translation and where they stand when literals are in it.
struct Copied {
  size_t from = 0, to = 0, size = 0;
};

/// copied: from left to right.
size_t moved(std::span<const Copied> copied, size_t position, bool is_end) {
  const auto at = std::ranges::partition_point(copied, [&](const Copied& one) {
    const size_t end = one.from + one.size;
    return is_end ? end < position : end <= position;
  });
  if (at == copied.end()) return copied.back().to + copied.back().size;
  return at->to + (position < at->from ? 0 : position - at->from);
}

bool has_word(std::string_view text) {
  for (size_t i = 0; i < text.size();)
    if (u_isalnum(static_cast<UChar32>(next_code_point(text, i)))) return true;
  return false;
}

/// A word of an alignment in parts, where something was cut out of it or is put into it: of these the ones with letters
/// or digits, if there are any. borders: sorted.
std::vector<ByteRange> parts_of_word(std::string_view text, ByteRange word, const std::vector<size_t>& borders) {
  std::vector<ByteRange> parts;
  for (auto next = std::ranges::upper_bound(borders, word.begin); next != borders.end() && *next < word.end; ++next) {
    if (*next == word.begin) continue;  // several at one place
    parts.push_back({word.begin, *next});
    word.begin = *next;
  }
  parts.push_back(word);
  const auto is_of_signs = [&](ByteRange range) {
    return !has_word(text.substr(range.begin, range.end - range.begin));
  };
  if (!std::ranges::all_of(parts, is_of_signs)) std::erase_if(parts, is_of_signs);
  return parts;
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool has_letter(std::string_view text) {
  for (size_t i = 0; i < text.size();)
    if (u_isalpha(static_cast<UChar32>(next_code_point(text, i)))) return true;
  return false;
}

/// The character that begins at a byte, or that ends there; 0 beyond the ends.
char32_t character_at(std::string_view text, size_t i) { return i < text.size() ? next_code_point(text, i) : 0; }
char32_t character_before(std::string_view text, size_t i) {
  if (i == 0) return 0;
  size_t begin = i - 1;
  while (begin > 0 && is_continuation_byte(text[begin])) --begin;
  return next_code_point(text, begin);
}

/// A sign before which no space stands. Quotation marks are left aside: which of them close depends on the language.
bool closes(char32_t c) {
  constexpr std::u32string_view kSigns = U".,;:!?\u2026\u3002\u3001\uFF0C\uFF1B\uFF1A\uFF01\uFF1F";
  return kSigns.find(c) != std::u32string_view::npos || u_charType(static_cast<UChar32>(c)) == U_END_PUNCTUATION;
}
/// One behind which none stands.
bool opens(char32_t c) { return u_charType(static_cast<UChar32>(c)) == U_START_PUNCTUATION; }

/// Whether it would make one word with a letter beside it.
bool goes_on(char32_t c) { return make_one_word(c, 'a'); }

/// Leaves one of two spaces around what was cut out at the end of `text`, and none where a full stop follows. Returns
/// where the line continues.
size_t close_gap(std::string& text, std::string_view line, size_t behind) {
  if (behind == line.size() || (!text.empty() && !is_blank(text.back()))) return behind;
  if (is_blank(line[behind])) return behind + 1;
  if (!text.empty() && closes(character_at(line, behind))) text.pop_back();
  return behind;
}

std::string without_space(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    if (!is_python_space(next_code_point(text, i))) result += text.substr(begin, i - begin);
  }
  return result;
}

/// Where bytes of `beginning`, which has no white space, end in a text that begins with it, whatever white space that
/// has; of another, where ends what is the same. sizes: so many bytes of it, in rising order.
std::vector<size_t> ends_of_beginning(std::string_view beginning, std::span<const size_t> sizes,
                                      std::string_view text) {
  std::vector<size_t> ends;
  size_t i = 0, at = 0, end = 0;
  bool is_same = true;
  for (const size_t size : sizes) {
    while (is_same && i < size) {
      const char32_t wanted = next_code_point(beginning, i);
      char32_t found = 0;
      while (at < text.size() && is_python_space(found = next_code_point(text, at))) {
      }
      is_same = found == wanted;
      if (is_same) end = at;
    }
    ends.push_back(end);
  }
  return ends;
}

}  // namespace

TermPlan::TermPlan(const Request& request, const std::function<bool(const std::string&)>& can_write, bool cut_all,
                   const std::function<std::string(const std::string&)>& written, size_t tag_end)
    : glossary_(request.terms.glossary) {
  cut_out(request, can_write, cut_all, tag_end);
  has_words_ = cuts_.empty() || has_letter(std::string_view(text_).substr(std::min(tag_end, text_.size())));
  if (!has_words_ && tag_end > 0) {  // the tag is for the model, which reads nothing of this line
    text_.clear();
    cuts_.clear();
    forced_.clear();
    text_begin_ = tag_end;
    cut_out(request, can_write, cut_all, tag_end);
  }
  read_prefix(request.prefix, written);
  read_phrases(request.must);
}

const std::string& TermPlan::text_of(const Literal& literal) const {
  return literal.term ? glossary_->terms()[*literal.term].target : literal.own;
}

TermPlan::Surroundings TermPlan::surroundings(std::string_view text, ByteRange range) {
  return {.space_before = range.begin > 0 && is_blank(text[range.begin - 1]),
          .space_after = range.end < text.size() && is_blank(text[range.end]),
          .word_before = goes_on(character_before(text, range.begin)),
          .word_after = goes_on(character_at(text, range.end))};
}

void TermPlan::cut_out(const Request& request, const std::function<bool(const std::string&)>& can_write, bool cut_all,
                       size_t tag_end) {
  const std::string_view line = request.source;
  size_t behind = text_begin_;
  // A space that text_ has lost stands before the first of the cuts at its end.
  const auto draw_back = [&] {
    Cut* first = nullptr;
    for (auto cut = cuts_.rbegin(); cut != cuts_.rend() && cut->position > text_.size(); ++cut) {
      cut->position = text_.size();
      first = &*cut;
    }
    if (first) ++first->removed;
  };
  std::map<size_t, bool> known;  // whether the targets of terms can be written
  const auto is_written = [&](const Literal& literal) {
    if (!literal.term) return can_write(literal.own);
    const auto found = known.find(*literal.term);
    return found != known.end() ? found->second
                                : known.emplace(*literal.term, can_write(text_of(literal))).first->second;
  };
  for (const auto& [range, term] : replacements_of(request)) {
    if (range.begin < tag_end) continue;
    Literal literal{.term = term};
    if (!term || text_of(literal).empty())  // it stays
      literal = {.own = std::string(line.substr(range.begin, range.end - range.begin))};
    if (term && !cut_all && is_written(literal)) {
      forced_.push_back({std::move(literal), text_.size() + range.begin - behind});
      continue;
    }
    const auto outer = range.begin > behind ? with_brackets(line, behind, range) : range;
    text_ += line.substr(behind, outer.begin - behind);
    cuts_.push_back({.position = text_.size(),
                     .literal = std::move(literal),
                     .opening = std::string(line.substr(outer.begin, range.begin - outer.begin)),
                     .closing = std::string(line.substr(range.end, outer.end - range.end)),
                     .range = outer,
                     .beside = surroundings(line, outer)});
    behind = close_gap(text_, line, outer.end);
    cuts_.back().removed = behind - outer.begin;
    draw_back();
  }
  text_ += line.substr(behind);
  if (!cuts_.empty() && cuts_.back().position == text_.size() && !text_.empty() && is_blank(text_.back())) {
    text_.pop_back();  // nothing follows the space
    draw_back();
  }
}

void TermPlan::read_prefix(std::string_view prefix, const std::function<std::string(const std::string&)>& written) {
  const auto add = [&](std::string_view stretch) {
    prefix_ += stretch;
    const std::string own(stretch);
    const auto bare = without_space(written && !own.empty() ? written(own) : own);
    written_prefix_ += bare;
    whole_prefix_ += bare;
  };
  // The cuts that have a literal, with its brackets and without; by its length.
  std::map<size_t, std::unordered_map<std::string, std::deque<size_t>, StringHash, std::equal_to<>>> cuts_of;
  const auto look_for = [&](std::string literal, size_t cut) {
    const size_t size = literal.size();
    cuts_of[size][std::move(literal)].push_back(cut);
  };
  for (size_t i = 0; i < cuts_.size() && !prefix.empty(); ++i) {
    look_for(with_brackets_of(cuts_[i]), i);
    if (!cuts_[i].opening.empty()) look_for(text_of(cuts_[i].literal), i);
  }
  std::vector<bool> is_used(cuts_.size());
  const auto longest_at = [&](size_t place) -> std::pair<size_t, size_t> {  // a cut and its bytes; no bytes: none
    for (auto of_size = cuts_of.rbegin(); of_size != cuts_of.rend(); ++of_size) {
      const auto literal = prefix.substr(place, of_size->first);
      const auto found = literal.size() < of_size->first ? of_size->second.end() : of_size->second.find(literal);
      if (found == of_size->second.end() || !stands_as_words_at(prefix, literal, place)) continue;
      auto& cuts = found->second;
      while (!cuts.empty() && is_used[cuts.front()]) cuts.pop_front();
      if (!cuts.empty()) return {cuts.front(), literal.size()};
    }
    return {};
  };
  size_t behind = 0;
  for (size_t place = 0; place < prefix.size();) {
    const auto [number, size] = longest_at(place);
    if (size == 0) {
      ++place;
      continue;
    }
    is_used[number] = true;
    add(prefix.substr(behind, place - behind));
    behind = close_gap(prefix_, prefix, place + size);
    pins_.push_back(
        {.cut = number, .before = written_prefix_.size(), .beside = surroundings(prefix, {place, place + size})});
    whole_prefix_ += without_space(prefix.substr(place, size));
    Cut& cut = cuts_[number];
    if (size == text_of(cut.literal).size()) cut.opening = cut.closing = {};
    place = behind;
  }
  add(prefix.substr(behind));
  if (!pins_.empty() && behind == prefix.size() && !prefix_.empty() && is_blank(prefix_.back())) prefix_.pop_back();
}

void TermPlan::read_phrases(const std::vector<std::string>& phrases) {
  for (const std::string_view phrase : phrases) {
    size_t behind = 0;
    const auto add = [&](size_t end) {  // without signs at what was cut out: "da" of "da ({x})"
      auto own = phrase.substr(behind, end - behind);
      while (behind > 0 && !own.empty() && !is_of_word(character_at(own, 0)))
        own.remove_prefix(code_point_at(own, 0).length);
      while (end < phrase.size() && !own.empty() && !is_of_word(character_before(own, own.size())))
        own.remove_suffix(1);
      if (!own.empty()) must_.emplace_back(own);
    };
    bool is_judged = !has_words_;
    for (;;) {
      size_t begin = std::string_view::npos, size = 0;
      for (const auto& cut : cuts_)
        if (const size_t at = find_as_words(phrase, text_of(cut.literal), behind);
            at < begin || (at == begin && text_of(cut.literal).size() > size))
          begin = at, size = text_of(cut.literal).size();
      if (begin == std::string_view::npos) break;
      add(begin);
      behind = begin + size;
      is_judged = true;
    }
    add(phrase.size());
    if (is_judged) judged_.push_back(without_space(phrase));
  }
}

std::vector<std::string> TermPlan::forced(size_t part) const {
  const auto first_of = [&](size_t next) {  // the first that does not begin in a part before this one
    if (next == 0) return forced_.begin();
    if (next >= part_begins_.size()) return forced_.end();
    return std::ranges::lower_bound(forced_, part_begins_[next], {}, &Forced::position);
  };
  std::vector<std::string> phrases;
  std::set<std::string_view> known;
  for (auto one = first_of(part); one != first_of(part + 1); ++one)
    if (const std::string& phrase = text_of(one->phrase); known.insert(phrase).second) phrases.push_back(phrase);
  return phrases;
}

bool TermPlan::is_met(std::string_view translation, std::span<const std::string> parts) const {
  std::set<std::string_view> phrases;
  for (const auto& one : forced_) phrases.insert(text_of(one.phrase));
  if (!std::ranges::all_of(phrases, [&](auto phrase) { return stands_as_words(translation, phrase); })) return false;
  for (size_t part = 0; part < parts.size(); ++part)
    for (const auto& phrase : forced(part))
      if (!stands_as_words(parts[part], phrase)) return false;
  return true;
}

bool TermPlan::has_constraints(std::string_view restored) const {
  const auto text = without_space(restored);
  return text.starts_with(whole_prefix_) && std::ranges::all_of(judged_, [&](const std::string& phrase) {
           return text.find(phrase) != std::string::npos;
         });
}

/// In the order of the translation: what the prefix has, then the others, which do not go into it.
std::vector<TermPlan::Place> TermPlan::places(const AlignedTranslation& translation) const {
  std::vector<Place> places;
  std::vector<bool> is_pinned(cuts_.size());
  std::vector<size_t> sizes;
  for (const auto& pin : pins_) sizes.push_back(pin.before);
  sizes.push_back(written_prefix_.size());
  const auto ends = ends_of_beginning(written_prefix_, sizes, translation.text);
  for (size_t i = 0; i < pins_.size(); ++i) {
    places.push_back({ends[i], pins_[i].cut, pins_[i].beside});
    is_pinned[pins_[i].cut] = true;
  }
  if (!has_words_ && translation.text == text_) {  // no translation: all stays where it stood
    for (size_t i = 0; i < cuts_.size(); ++i)
      if (!is_pinned[i]) places.push_back({cuts_[i].position, i, cuts_[i].beside});
    return places;
  }
  size_t free = ends.back();
  while (free > 0 && free < translation.text.size() &&
         make_one_word(character_before(translation.text, free), character_at(translation.text, free)))
    next_code_point(translation.text, free);  // the prefix ends inside of a word
  std::vector<TagSpan> spans;
  std::vector<size_t> cut_of_span;
  for (size_t i = 0; i < cuts_.size(); ++i) {
    if (is_pinned[i]) continue;
    const Cut& cut = cuts_[i];
    // What stood against a word or a sign stays with it: "{name}," or "($price)".
    const auto neighbour = !cut.beside.space_before && cut.position > 0 ? TagNeighbour::kLeft
                           : !cut.beside.space_after                    ? TagNeighbour::kRight
                                                                        : TagNeighbour::kNeither;
    spans.push_back({.begin = cut.position, .end = cut.position, .neighbour = neighbour});
    cut_of_span.push_back(i);
  }
  for (const auto& event : place_tags(text_, spans, translation))
    if (const size_t cut = cut_of_span[event.span]; !event.closes)
      places.push_back({std::max(event.position, free), cut, cuts_[cut].beside});
  return places;
}

AlignedTranslation TermPlan::restored(const AlignedTranslation& translation) const {
  if (cuts_.empty()) return translation;
  const std::string_view from = translation.text;
  AlignedTranslation result;
  std::string& text = result.text;
  std::vector<Copied> copied;
  size_t behind = 0;
  const Surroundings* last = nullptr;  // of the literal that was written last
  const auto copy_to = [&](size_t end) {
    end = std::max(end, behind);
    if (last && end > behind && !is_blank(from[behind])) {
      const char32_t next = character_at(from, behind);
      const bool is_word = !last->word_after && goes_on(next);
      if (last->space_after ? !closes(next) : is_word) text += ' ';
    }
    copied.push_back({.from = behind, .to = text.size(), .size = end - behind});
    text.append(from, behind, end - behind);
    if (end > behind) last = nullptr;
    behind = end;
  };
  const auto literals = places(translation);
  for (const auto& place : literals) {
    copy_to(place.position);
    const Cut& cut = cuts_[place.cut];
    if (const char32_t before = character_before(text, text.size()); before != 0 && !is_blank(text.back())) {
      const bool is_word = !last && !place.beside.word_before && goes_on(before);
      const bool is_space = place.beside.space_before || (last && last->space_after);
      if (is_space ? !opens(before) : is_word) text += ' ';
    }
    const size_t begin = text.size();
    text += with_brackets_of(cut);
    result.alignment.push_back({cut.range.begin, cut.range.end, begin, text.size()});
    last = &place.beside;
    // Where the translation continues with the space that stood before the literal, too, one of them is enough.
    const bool doubled = begin > 0 && is_blank(text[begin - 1]) && behind + 1 < from.size() && is_blank(from[behind]);
    if (doubled && !last->space_after && !goes_on(character_at(from, behind + 1))) ++behind;
  }
  copy_to(from.size());
  std::vector<size_t> cut_at, put_at;
  for (const auto& cut : cuts_) cut_at.push_back(cut.position);
  for (const auto& stretch : copied) put_at.push_back(stretch.from);
  // Where a byte of text() stands in the line; of the end of a word: what was cut out there comes behind it.
  std::vector<size_t> removed = {0};  // by the cuts before each
  for (const auto& cut : cuts_) removed.push_back(removed.back() + cut.removed);
  const auto in_line = [&](size_t position, bool is_end) {
    const auto& next = is_end ? std::ranges::lower_bound(cut_at, position) : std::ranges::upper_bound(cut_at, position);
    return text_begin_ + position + removed[next - cut_at.begin()];
  };
  for (const auto& words : translation.alignment) {
    const auto targets = parts_of_word(from, {words.target_begin, words.target_end}, put_at);
    for (const auto& source : parts_of_word(text_, {words.source_begin, words.source_end}, cut_at))
      for (const auto& target : targets)
        result.alignment.push_back({in_line(source.begin, false), in_line(source.end, true),
                                    moved(copied, target.begin, false), moved(copied, target.end, true)});
  }
  return result;
}

}  // namespace nmt
