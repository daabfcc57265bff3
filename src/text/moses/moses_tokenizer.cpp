#include "text/moses/moses_tokenizer.h"

#include <algorithm>

#include "base/unicode.h"
#include "text/moses/moses_language.h"

namespace nmt {
namespace {

using namespace moses;  // the classes of characters
using View = std::u32string_view;

// A run of k points, k > 1, is one character beyond Unicode while the other points are looked at. Moses writes a word
// of capitals (DOTDOTMULTI) there, which no rule would take apart either.
constexpr char32_t kPoints = 0x110000;

/// White space as single spaces, other control characters deleted, none at the ends.
std::u32string cleaned(std::string_view line) {
  const std::u32string text = find_invalid_utf8(line) ? to_code_points(repair_utf8(line)) : to_code_points(line);
  std::u32string result;
  result.reserve(text.size());
  bool after_space = false;
  for (const char32_t c : text) {
    const bool space = is_python_space(c);
    if (space ? !after_space : c >= U' ') result += space ? U' ' : c;
    after_space = space;
  }
  const size_t begin = result.find_first_not_of(U' ');
  if (begin == std::u32string::npos) return {};
  result.erase(result.find_last_not_of(U' ') + 1);
  result.erase(0, begin);
  return result;
}

/// Spaces around what is no letter or digit, but for . , ' ` and -, which later rules know; runs of points, dashes.
std::u32string separate_symbols(View text, bool split_dashes) {
  std::u32string result;
  result.reserve(text.size() + text.size() / 4 + 8);
  for (size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (is_letter_mark_or_digit(c) || c == U' ' || c == U'\'' || c == U'`' || c == U',') {
      result += c;
    } else if (c == U'.') {
      size_t end = i + 1;
      while (end < text.size() && text[end] == U'.') ++end;
      if (end - i == 1) {
        result += c;
      } else {
        result += U' ';
        result += kPoints + static_cast<char32_t>(end - i);
        if (end < text.size()) result += U' ';
        i = end - 1;
      }
    } else if (c == U'-') {
      const bool split = split_dashes && i > 0 && is_letter_mark_or_digit(text[i - 1]) && i + 1 < text.size() &&
                         is_letter_mark_or_digit(text[i + 1]);
      result += split ? View(U" @-@ ") : View(U"-");
    } else {
      result += U' ';
      result += c;
      result += U' ';
    }
  }
  return result;
}

/// What a mark between two characters becomes: a token, the end of the first word or the beginning of the second.
enum class MarkPlace { kAlone, kAfterFirst, kBeforeSecond };

/// Puts spaces around `mark` between two characters. As a regular expression does that eats both neighbours, it passes
/// over a mark whose left neighbour was the right one of the mark before.
template <typename Before, typename After>
void separate_between(std::u32string& text, char32_t mark, Before&& before, After&& after,
                      MarkPlace place = MarkPlace::kAlone) {
  std::u32string result;
  result.reserve(text.size() + 16);
  size_t i = 0;
  while (i < text.size()) {
    if (i + 2 < text.size() && text[i + 1] == mark && before(text[i]) && after(text[i + 2])) {
      result += text[i];
      if (place != MarkPlace::kAfterFirst) result += U' ';
      result += mark;
      if (place != MarkPlace::kBeforeSecond) result += U' ';
      result += text[i + 2];
      i += 3;
    } else {
      result += text[i++];
    }
  }
  text = std::move(result);
}

/// Commas, except between numbers (5,300).
void separate_commas(std::u32string& text) {
  if (text.find(U',') == std::u32string::npos) return;
  std::u32string once;
  for (size_t i = 0; i < text.size(); ++i) {
    once += text[i];
    if (!is_number(text[i]) && i + 1 < text.size() && text[i + 1] == U',') {
      once += View(U" , ");
      ++i;
    }
  }
  std::u32string twice;
  for (size_t i = 0; i < once.size(); ++i) {
    if (once[i] == U',' && i + 1 < once.size() && !is_number(once[i + 1])) {
      twice += View(U" , ");
      twice += once[++i];
    } else {
      twice += once[i];
    }
  }
  if (twice.size() > 1 && twice.back() == U',' && is_number(twice[twice.size() - 2])) {
    twice.back() = U' ';
    twice += View(U", ");
  }
  text = std::move(twice);
}

void separate_english_apostrophes(std::u32string& text) {
  const auto letter = [](char32_t c) { return is_letter_or_mark(c); };
  const auto no_letter = [](char32_t c) { return !is_letter_or_mark(c); };
  const auto neither = [](char32_t c) { return !is_letter_or_mark(c) && !is_number(c); };
  const auto number = [](char32_t c) { return is_number(c); };
  const auto s = [](char32_t c) { return c == U's'; };
  separate_between(text, U'\'', no_letter, no_letter);
  separate_between(text, U'\'', neither, letter);
  separate_between(text, U'\'', letter, no_letter);
  separate_between(text, U'\'', letter, letter, MarkPlace::kBeforeSecond);  // "don 't"
  separate_between(text, U'\'', number, s, MarkPlace::kBeforeSecond);       // "1990 's"
}

void separate_french_apostrophes(std::u32string& text) {
  const auto letter = [](char32_t c) { return is_letter_or_mark(c); };
  const auto no_letter = [](char32_t c) { return !is_letter_or_mark(c); };
  separate_between(text, U'\'', no_letter, no_letter);
  separate_between(text, U'\'', no_letter, letter);
  separate_between(text, U'\'', letter, no_letter);
  separate_between(text, U'\'', letter, letter, MarkPlace::kAfterFirst);  // "l' eau"
}

void separate_apostrophes(std::u32string& text, MosesLanguage language) {
  if (text.find(U'\'') == std::u32string::npos) return;
  if (language == MosesLanguage::kEnglish) return separate_english_apostrophes(text);
  if (language == MosesLanguage::kFrench) return separate_french_apostrophes(text);
  std::u32string result;
  for (const char32_t c : text) {
    if (c == U'\'') {
      result += View(U" ' ");
    } else {
      result += c;
    }
  }
  text = std::move(result);
}

/// Whether the point at the end of a word is its own: "Dr." and "z.B." keep theirs, and so does what stands before a
/// small letter.
bool keeps_point(View word, View next, MosesLanguage language) {
  const bool has_point = word.find(U'.') != View::npos;
  if (has_point) {
    for (const char32_t c : word)
      if (is_letter_or_mark(c)) return true;
  }
  if (!next.empty() && is_lower_case(next.front())) return true;
  constexpr size_t kLongest = 8;  // of the lists; their letters are Latin ones
  if (word.size() > kLongest || std::ranges::any_of(word, [](char32_t c) { return c > 0xFF; })) return false;
  switch (point_after(to_utf8(word), language)) {
    case Point::kOwnToken:
      return false;
    case Point::kPartOfWord:
      return true;
    case Point::kBeforeNumber:
      return !next.empty() && next.front() >= U'0' && next.front() <= U'9';
  }
  return false;
}

/// The word that begins at or after `i`; empty at the end.
View next_word(View text, size_t i) {
  const size_t begin = text.find_first_not_of(U' ', i);
  if (begin == View::npos) return {};
  return text.substr(begin, text.find(U' ', begin) - begin);
}

/// Points at the ends of sentences. The tokens then stand between single spaces.
std::u32string separate_points(View text, MosesLanguage language) {
  std::u32string result;
  result.reserve(text.size() + 16);
  for (View word = next_word(text, 0); !word.empty();) {
    const View next = next_word(text, word.data() - text.data() + word.size());
    if (!result.empty()) result += U' ';
    result += word;
    if (word.size() > 1 && word.back() == U'.' && !keeps_point(word.substr(0, word.size() - 1), next, language)) {
      result.back() = U' ';
      result += U'.';
    }
    word = next;
  }
  return result;
}

View escaped(char32_t c) {
  const auto found = std::ranges::find(kMosesEntities, c, [](const auto& entity) { return entity.second; });
  return found == kMosesEntities.end() ? View() : found->first;
}

/// DOT (k times) MULTI is how Moses marks a run of k points; what looks so in the text becomes points as well.
void restore_written_marks(std::u32string& text) {
  constexpr View kDot = U"DOT", kMulti = U"MULTI";
  size_t end = text.find(kMulti);
  if (end == std::u32string::npos) return;
  std::u32string result;
  size_t copied = 0;
  for (; end != std::u32string::npos; end = text.find(kMulti, end + kMulti.size())) {
    size_t begin = end;
    while (begin >= copied + kDot.size() && View(text).substr(begin - kDot.size(), kDot.size()) == kDot)
      begin -= kDot.size();
    if (begin == end) continue;
    result.append(text, copied, begin - copied);
    result.append((end - begin) / kDot.size(), U'.');
    copied = end + kMulti.size();
  }
  result.append(text, copied);
  text = std::move(result);
}

std::string finished(View text, bool escape) {
  std::u32string result;
  result.reserve(text.size() + 32);
  for (const char32_t c : text) {
    if (c > kPoints) {
      result.append(c - kPoints, U'.');
    } else if (const View entity = escape ? escaped(c) : View(); !entity.empty()) {
      result += entity;
    } else {
      result += c;
    }
  }
  return to_utf8(result);
}

}  // namespace

std::string MosesTokenizer::tokenize(std::string_view line) const {
  std::u32string text = separate_symbols(cleaned(line), options_.aggressive_dash_splits);
  separate_commas(text);
  separate_apostrophes(text, language_);
  text = separate_points(text, language_);
  if (text.ends_with(U".'")) text.replace(text.size() - 2, 2, U" . ' ");
  restore_written_marks(text);
  return finished(text, options_.escape);
}

}  // namespace nmt
