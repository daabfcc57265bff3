#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/words.h"  // split_words

namespace nmt::scoring {

/// The code point that begins at text[i], and i moved behind it. Bytes that are not UTF-8 give U+FFFD, one at a time.
inline char32_t next_code_point(std::string_view text, size_t& i) {
  const auto byte = [&](size_t k) { return k < text.size() ? static_cast<uint8_t>(text[k]) : uint8_t{0}; };
  const auto continues = [&](size_t k) { return (byte(k) & 0xC0) == 0x80; };
  const uint8_t lead = byte(i);
  if (lead < 0x80) return text[i++];
  if (lead >= 0xC2 && lead < 0xE0 && continues(i + 1)) {
    const char32_t c = (lead & 0x1Fu) << 6 | (byte(i + 1) & 0x3Fu);
    i += 2;
    return c;
  }
  if (lead >= 0xE0 && lead < 0xF0 && continues(i + 1) && continues(i + 2)) {
    const char32_t c = (lead & 0x0Fu) << 12 | (byte(i + 1) & 0x3Fu) << 6 | (byte(i + 2) & 0x3Fu);
    i += 3;
    return c;
  }
  if (lead >= 0xF0 && lead < 0xF5 && continues(i + 1) && continues(i + 2) && continues(i + 3)) {
    const char32_t c =
        (lead & 0x07u) << 18 | (byte(i + 1) & 0x3Fu) << 12 | (byte(i + 2) & 0x3Fu) << 6 | (byte(i + 3) & 0x3Fu);
    i += 4;
    return c;
  }
  ++i;
  return 0xFFFD;
}

/// The code points of `text`, appended; without those of Python's white space if asked.
enum class WhiteSpace { kKeep, kDrop };
void append_code_points(std::string_view text, WhiteSpace white_space, std::vector<uint32_t>& out);

}  // namespace nmt::scoring
