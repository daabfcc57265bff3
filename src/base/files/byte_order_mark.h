#pragma once

#include <cstddef>
#include <string_view>

namespace nmt {

/// The bytes of the byte order mark (U+FEFF) that a text begins with: 3, or 0 where it has none. Programs of Windows
/// put it before the text of a file, of which it is no part.
constexpr size_t byte_order_mark_length(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? kMark.size() : 0;
}

/// The text of a file, or its first line, without the mark.
constexpr std::string_view without_byte_order_mark(std::string_view text) {
  return text.substr(byte_order_mark_length(text));
}

}  // namespace nmt
