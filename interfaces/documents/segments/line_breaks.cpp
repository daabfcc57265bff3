#include "documents/segments/line_breaks.h"

#include <algorithm>

#include "base/code_points.h"

namespace nmt::documents {
namespace {

struct SubtitleWord {
  size_t space;   ///< the byte of the space before it
  size_t length;  ///< characters
};

/// The breaks where lines hold up to `width` characters.
std::vector<size_t> greedy_breaks(const std::vector<SubtitleWord>& words, size_t width) {
  std::vector<size_t> breaks;
  size_t length = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && length + 1 + words[i].length > width) {
      breaks.push_back(words[i].space);
      length = words[i].length;
    } else {
      length += words[i].length + (i > 0);
    }
  }
  return breaks;
}

}  // namespace

std::vector<size_t> balanced_breaks(std::string_view text, size_t width, size_t most_lines) {
  std::vector<SubtitleWord> words;
  size_t total = 0, longest = 0;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const auto length = static_cast<size_t>(count_code_points(text.substr(begin, end - begin)));
    words.push_back({begin > 0 ? begin - 1 : 0, length});
    total += length + 1;
    longest = std::max(longest, length);
    begin = end + 1;
  }
  size_t lines = 1;
  while (lines < most_lines && greedy_breaks(words, width).size() + 1 > lines) ++lines;
  if (lines <= 1) return {};
  size_t low = longest, high = total;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (greedy_breaks(words, middle).size() < lines)
      high = middle;
    else
      low = middle + 1;
  }
  return greedy_breaks(words, low);
}

}  // namespace nmt::documents
