#include "base/words.h"

#include <array>
#include <cstdint>

namespace nmt {
namespace {

bool is_ascii_space(uint8_t c) { return c <= 0x20 && ((c >= 0x9 && c <= 0xD) || c >= 0x1C); }

constexpr std::array<bool, 256> make_space_starts() {
  std::array<bool, 256> starts{};
  for (int c = 0; c <= 0x20; ++c) starts[c] = (c >= 0x9 && c <= 0xD) || c >= 0x1C;
  for (const int lead : {0xC2, 0xE1, 0xE2, 0xE3}) starts[lead] = true;
  return starts;
}
constexpr auto kMayBeginSpace = make_space_starts();

}  // namespace

size_t space_length(std::string_view text, size_t i) {
  const auto byte = [&](size_t k) { return k < text.size() ? static_cast<uint8_t>(text[k]) : uint8_t{0}; };
  const uint8_t lead = byte(i);
  if (lead < 0x80) return is_ascii_space(lead) && i < text.size() ? 1 : 0;
  const uint8_t second = byte(i + 1), third = byte(i + 2);
  switch (lead) {
    case 0xC2:  // U+0085, U+00A0
      return second == 0x85 || second == 0xA0 ? 2 : 0;
    case 0xE1:  // U+1680
      return second == 0x9A && third == 0x80 ? 3 : 0;
    case 0xE2:  // U+2000 to 200A, 2028, 2029, 202F; 205F
      if (second == 0x80) {
        return (third >= 0x80 && third <= 0x8A) || third == 0xA8 || third == 0xA9 || third == 0xAF ? 3 : 0;
      }
      return second == 0x81 && third == 0x9F ? 3 : 0;
    case 0xE3:  // U+3000
      return second == 0x80 && third == 0x80 ? 3 : 0;
    default:
      return 0;
  }
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
