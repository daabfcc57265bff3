#include "base/unicode.h"

#include <fmt/format.h>
#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/normalizer2.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace nmt {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

uint8_t byte_at(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

/// The first byte at or after `i` that is not ASCII, else text.size().
size_t skip_ascii(std::string_view text, size_t i) {
  while (i + 8 <= text.size()) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    if (word & 0x8080808080808080ULL) break;
    i += 8;
  }
  while (i < text.size() && byte_at(text, i) < 0x80) ++i;
  return i;
}

/// What begins at a byte beyond ASCII: a code point, or the longest start of one (at least a byte), which is invalid.
struct Sequence {
  size_t length;
  bool valid;
};

/// The Unicode Standard, table 3-7, "Well-Formed UTF-8 Byte Sequences".
Sequence sequence_at(std::string_view text, size_t i) {
  const uint8_t lead = byte_at(text, i);
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint8_t low = 0x80, high = 0xBF;  // of the second byte
  if (lead == 0xE0) low = 0xA0;     // below: overlong
  if (lead == 0xED) high = 0x9F;    // above: surrogates
  if (lead == 0xF0) low = 0x90;     // below: overlong
  if (lead == 0xF4) high = 0x8F;    // above: beyond U+10FFFF
  for (size_t k = 1; k < length; ++k) {
    if (i + k == text.size() || byte_at(text, i + k) < low || byte_at(text, i + k) > high) return {k, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
}

/// For ICU, which counts in 32 bits and does not check. Throws Error.
icu::StringPiece checked(std::string_view text) {
  if (const auto offset = find_invalid_utf8(text)) throw Error(fmt::format("not UTF-8 at byte {}", *offset));
  if (text.size() > std::numeric_limits<int32_t>::max() / 4) {
    throw Error(fmt::format("a text of {} bytes is too long for one line", text.size()));
  }
  return {text.data(), static_cast<int32_t>(text.size())};
}

void check(UErrorCode status) {
  if (U_FAILURE(status)) throw MachineError(fmt::format("the Unicode library fails ({})", u_errorName(status)));
}

}  // namespace

std::optional<size_t> find_invalid_utf8(std::string_view text) {
  for (size_t i = skip_ascii(text, 0); i < text.size();) {
    const Sequence sequence = sequence_at(text, i);
    if (!sequence.valid) return i;
    i += sequence.length;
    if (i < text.size() && byte_at(text, i) < 0x80) i = skip_ascii(text, i);
  }
  return std::nullopt;
}

std::string repair_utf8(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size());
  size_t copied = 0;
  for (size_t i = skip_ascii(text, 0); i < text.size(); i = skip_ascii(text, i)) {
    const Sequence sequence = sequence_at(text, i);
    if (!sequence.valid) {
      repaired.append(text, copied, i - copied);
      repaired.append(kReplacement);
      copied = i + sequence.length;
    }
    i += sequence.length;
  }
  repaired.append(text, copied);
  return repaired;
}

std::string nfkc(std::string_view text) {
  const icu::StringPiece source = checked(text);
  if (skip_ascii(text, 0) == text.size()) return std::string(text);
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = icu::Normalizer2::getNFKCInstance(status);
  check(status);
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  normalizer->normalizeUTF8(0, source, sink, nullptr, status);
  check(status);
  return result;
}

std::string lower_case(std::string_view text) {
  const icu::StringPiece source = checked(text);
  UErrorCode status = U_ZERO_ERROR;
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  icu::CaseMap::utf8ToLower("", 0, source, sink, nullptr, status);  // "": the root locale, not the system's
  check(status);
  return result;
}

std::u32string to_code_points(std::string_view text) {
  std::u32string code_points;
  code_points.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    UChar32 c;
    U8_NEXT_OR_FFFD(text.data(), i, text.size(), c);
    code_points += static_cast<char32_t>(c);
  }
  return code_points;
}

std::string to_utf8(std::u32string_view code_points) {
  std::string text;
  text.reserve(code_points.size());
  for (const char32_t c : code_points) {
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
      text.append(kReplacement);
      continue;
    }
    char bytes[U8_MAX_LENGTH];
    size_t length = 0;
    U8_APPEND_UNSAFE(bytes, length, c);
    text.append(bytes, length);
  }
  return text;
}

bool is_python_space(char32_t c) {
  if (c <= 0x20) return (c >= 0x9 && c <= 0xD) || (c >= 0x1C && c <= 0x20);
  if (c < 0x1680) return c == 0x85 || c == 0xA0;
  return c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

std::string_view strip_end(std::string_view text) {
  while (!text.empty()) {
    // ICU steps back with 32-bit offsets: show it the last code point only.
    const std::string_view tail = text.substr(text.size() - std::min<size_t>(text.size(), U8_MAX_LENGTH));
    auto start = static_cast<int32_t>(tail.size());
    UChar32 c;
    U8_PREV_OR_FFFD(tail.data(), 0, start, c);
    if (!is_python_space(static_cast<char32_t>(c))) break;
    text.remove_suffix(tail.size() - start);
  }
  return text;
}

std::string_view strip(std::string_view text) {
  while (!text.empty()) {
    size_t end = 0;
    UChar32 c;
    U8_NEXT_OR_FFFD(text.data(), end, text.size(), c);
    if (!is_python_space(static_cast<char32_t>(c))) break;
    text.remove_prefix(end);
  }
  return strip_end(text);
}

}  // namespace nmt
