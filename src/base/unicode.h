#pragma once

#include <unicode/utf8.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// The second and later bytes of a character in UTF-8: 10xxxxxx.
constexpr bool is_continuation_byte(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

/// Code points of valid UTF-8.
inline int64_t count_code_points(std::string_view text) {
  int64_t count = 0;
  for (const char byte : text) count += !is_continuation_byte(byte);
  return count;
}

struct CodePoint {
  char32_t value;   ///< U+FFFD where the bytes are not UTF-8
  uint32_t length;  ///< bytes, at least 1; of what is not UTF-8: as many as Python's decode() replaces by one U+FFFD
  bool is_valid;
};

/// What begins at text[i], i < text.size().
inline CodePoint code_point_at(std::string_view text, size_t i) {
  const size_t begin = i;
  UChar32 c = 0;
  U8_NEXT(text.data(), i, text.size(), c);
  const auto length = static_cast<uint32_t>(i - begin);
  return c < 0 ? CodePoint{0xFFFD, length, false} : CodePoint{static_cast<char32_t>(c), length, true};
}

/// The code point that begins at text[i], and i moved behind it.
inline char32_t next_code_point(std::string_view text, size_t& i) {
  const CodePoint c = code_point_at(text, i);
  i += c.length;
  return c.value;
}

/// What Python's str.split() and strip() take for white space: 9-D, 1C-1F, 20, 85, A0, 1680, 2000-200A, 2028, 2029,
/// 202F, 205F, 3000.
constexpr bool is_python_space(char32_t c) {
  if (c <= 0x20) return (c >= 0x9 && c <= 0xD) || c >= 0x1C;
  if (c < 0x1680) return c == 0x85 || c == 0xA0;
  return c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

/// `text` as it may stand on a terminal: control characters (to U+1F but for the tab, and U+7F to U+9F, which are
/// commands, too) and bytes that are not UTF-8 are question marks.
std::string printable(std::string_view text);

/// The same as one line, of a message: line ends are spaces.
std::string printable_line(std::string text);

/// The code points of `text`, appended; without those of Python's white space if asked.
enum class WhiteSpace { kKeep, kDrop };
void append_code_points(std::string_view text, WhiteSpace white_space, std::vector<uint32_t>& out);

/// The bytes of the white space of Python's str.split() that begins at text[i]; 0 if there is none.
size_t space_length(std::string_view text, size_t i);

/// Characters that say how a text is set and are no part of it: soft hyphens, word joiners, marks of direction. The
/// bytes of the one that begins at text[i]; 0 if there is none. U+200B, U+200C and U+200D are none behind letters of
/// scripts that need them, and in emoji.
size_t invisible_length(std::string_view text, size_t i);

/// A text without them.
std::string without_invisible(std::string_view text);

/// What Python's str.split() finds: the parts between white space. Replaces `words`; the views are into `text`.
void split_words(std::string_view text, std::vector<std::string_view>& words);

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

/// The byte offset of the first byte that is not UTF-8 (overlong forms, surrogates and beyond U+10FFFF are not), or
/// nullopt.
std::optional<size_t> find_invalid_utf8(std::string_view text);

/// Every maximal invalid run replaced by U+FFFD, as Python's decode(errors="replace") does.
std::string repair_utf8(std::string_view text);

/// Unicode normalisation form KC. Throws Error if text is not UTF-8.
std::string nfkc(std::string_view text);

/// Full, language-neutral lower case, as Python's str.lower(): final sigma, U+0130. Throws Error if text is not UTF-8.
std::string lower_case(std::string_view text);
/// The same in upper case, as Python's str.upper(): "SS" for U+00DF. Throws Error if text is not UTF-8.
std::string upper_case(std::string_view text);

/// U+FFFD for what is not UTF-8, as Python's decode(errors="replace").
std::u32string to_code_points(std::string_view text);
std::string to_utf8(std::u32string_view code_points);

/// text without white space (is_python_space) at both ends, or at the end only.
std::string_view strip(std::string_view text);
std::string_view strip_end(std::string_view text);

}  // namespace nmt
