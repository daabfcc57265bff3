#include "text/augmentation.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <vector>

#include "base/unicode.h"

namespace nmt {
namespace {

constexpr int64_t kLettersOfTypo = 25;

bool is_alphabetic(char32_t c) { return u_isalpha(static_cast<UChar32>(c)) != 0; }

/// The first letter of each word; the others stay, as in acronyms and names.
std::string title_case(std::string_view text) {
  auto points = to_code_points(text);
  bool begins = true;  // quotes and brackets before a word change nothing
  for (char32_t& c : points) {
    if (is_python_space(c)) {
      begins = true;
    } else if (begins && u_isalnum(static_cast<UChar32>(c))) {
      c = static_cast<char32_t>(u_totitle(static_cast<UChar32>(c)));
      begins = false;
    }
  }
  return to_utf8(points);
}

std::string without_end_mark(std::string_view text) {
  const auto is_mark = [](char32_t c) {
    return c == U'\u2026' || u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_S_TERM);
  };
  auto points = to_code_points(text);
  while (!points.empty() && (is_mark(points.back()) || is_python_space(points.back()))) points.pop_back();
  return points.empty() ? std::string(text) : to_utf8(points);
}

/// Where a letter is followed by another one.
std::vector<size_t> letter_pairs(std::u32string_view points) {
  std::vector<size_t> places;
  for (size_t i = 0; i + 1 < points.size(); ++i)
    if (is_alphabetic(points[i]) && is_alphabetic(points[i + 1])) places.push_back(i);
  return places;
}

}  // namespace

std::string_view leading_tags(std::string_view text) {
  for (size_t end = 0;;) {
    const auto word = text.substr(end, text.find(' ', end) - end);
    const std::string_view closing = word.starts_with(">>") ? "<<" : ">";
    const size_t found = word.starts_with(">>") || word.starts_with('<') ? word.find(closing) : word.npos;
    if (found == word.npos) return text.substr(0, end);
    end = std::min(text.size(), text.find_first_not_of(' ', end + found + closing.size()));
  }
}

TextChanges draw_changes(const AugmentationRates& rates, CounterRandom& random) {
  TextChanges changes;
  changes.joined = random.uniform() < rates.joined;
  changes.no_end_mark = random.uniform() < rates.no_end_mark;
  changes.typos = random.uniform() < rates.typos;
  const double case_drawn = random.uniform();
  changes.upper = case_drawn < rates.upper;
  changes.title = !changes.upper && case_drawn < rates.upper + rates.title;
  return changes;
}

std::string changed_text(std::string_view text, std::string_view next, const TextChanges& changes) {
  const auto tags = leading_tags(text);
  std::string result(text.substr(tags.size()));
  if (changes.joined && !next.empty()) result.append(" ").append(next.substr(leading_tags(next).size()));
  if (changes.no_end_mark) result = without_end_mark(result);
  if (changes.upper) result = upper_case(result);
  if (changes.title) result = title_case(result);
  return std::string(tags) + result;
}

std::string with_typos(std::string_view text, CounterRandom& random) {
  const auto tags = leading_tags(text);
  auto points = to_code_points(text.substr(tags.size()));
  for (int64_t left = 1 + std::ranges::count_if(points, is_alphabetic) / kLettersOfTypo; left > 0; --left) {
    const auto places = letter_pairs(points);
    if (places.empty()) break;
    const auto drawn_place = [&] { return places[random.below(places.size())]; };
    const size_t at = drawn_place();
    switch (random.below(4)) {
      case 0:
        std::swap(points[at], points[at + 1]);
        break;
      case 1:
        points.erase(at, 1);
        break;
      case 2:
        points.insert(at, 1, points[at]);
        break;
      default:
        points[at] = points[drawn_place()];
    }
  }
  return std::string(tags) + to_utf8(points);
}

}  // namespace nmt
