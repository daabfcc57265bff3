#include "base/words.h"

#include <array>
#include <cstdint>

#include "base/code_points.h"

namespace nmt {
namespace {

constexpr std::array<bool, 256> make_space_starts() {
  std::array<bool, 256> starts{};
  for (char32_t c = 0; c < 0x80; ++c) starts[c] = is_python_space(c);
  for (const int first : {0xC2, 0xE1, 0xE2, 0xE3}) starts[first] = true;
  return starts;
}
constexpr auto kMayBeginSpace = make_space_starts();

}  // namespace

size_t space_length(std::string_view text, size_t i) {
  if (i >= text.size() || !kMayBeginSpace[static_cast<uint8_t>(text[i])]) return 0;
  const CodePoint c = code_point_at(text, i);
  return is_python_space(c.value) ? c.length : 0;
}

void split_words(std::string_view text, std::vector<std::string_view>& words) {
  words.clear();
  size_t start = 0;
  for (size_t i = 0; i < text.size();) {
    if (!kMayBeginSpace[static_cast<uint8_t>(text[i])]) {
      ++i;
      continue;
    }
    const size_t space = space_length(text, i);
    if (space == 0) {
      ++i;
      continue;
    }
    if (i > start) words.push_back(text.substr(start, i - start));
    i += space;
    start = i;
  }
  if (text.size() > start) words.push_back(text.substr(start));
}

}  // namespace nmt
