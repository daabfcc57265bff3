#include "base/unicode.h"

#include <fmt/format.h>
#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace nmt {

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    const bool is_control = (c.value < 0x20 && c.value != '\t') || (c.value >= 0x7F && c.value <= 0x9F);
    if (is_control || !c.is_valid)
      result += '?';
    else
      result += text.substr(i, c.length);
    i += c.length;
  }
  return result;
}

std::string printable_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return printable(text);
}

namespace {

/// Latin, Greek, Cyrillic and what all scripts share write the same with joiners and zero-width spaces and without.
bool needs_no_joiner(UChar32 c) {
  UErrorCode status = U_ZERO_ERROR;
  const auto script = uscript_getScript(c, &status);
  const bool is_emoji = u_hasBinaryProperty(c, UCHAR_EMOJI) && !u_isdigit(c);
  return !is_emoji &&
         (script == USCRIPT_LATIN || script == USCRIPT_GREEK || script == USCRIPT_CYRILLIC || script == USCRIPT_COMMON);
}

}  // namespace

size_t invisible_length(std::string_view text, size_t i) {
  const auto lead = static_cast<unsigned char>(text[i]);
  if (lead != 0xC2 && lead != 0xD8 && lead != 0xE2 && lead != 0xEF) return 0;
  size_t end = i;
  const auto c = static_cast<UChar32>(next_code_point(text, end));
  if (c >= 0x200B && c <= 0x200D) {
    size_t before = i;
    while (before > 0 && is_continuation_byte(text[--before])) {
    }
    return before == i || needs_no_joiner(static_cast<UChar32>(next_code_point(text, before))) ? end - i : 0;
  }
  const bool is_invisible = c == 0xAD || c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
                            (c >= 0x2060 && c <= 0x2064) || (c >= 0x2066 && c <= 0x206F) || c == 0xFEFF;
  return is_invisible ? end - i : 0;
}

std::string without_invisible(std::string_view text) {
  std::string visible;
  visible.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t length = invisible_length(text, i);
    if (length == 0) visible += text[i];
    i += std::max<size_t>(length, 1);
  }
  return visible;
}

void append_code_points(std::string_view text, WhiteSpace white_space, std::vector<uint32_t>& out) {
  for (size_t i = 0; i < text.size();) {
    const char32_t c = next_code_point(text, i);
    if (white_space == WhiteSpace::kKeep || !is_python_space(c)) out.push_back(c);
  }
}

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
    const CodePoint c = code_point_at(text, i);
    if (!c.is_valid) return i;
    i += c.length;
    if (i < text.size() && byte_at(text, i) < 0x80) i = skip_ascii(text, i);
  }
  return std::nullopt;
}

std::string repair_utf8(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size());
  size_t copied = 0;
  for (size_t i = skip_ascii(text, 0); i < text.size(); i = skip_ascii(text, i)) {
    const CodePoint c = code_point_at(text, i);
    if (!c.is_valid) {
      repaired.append(text, copied, i - copied);
      repaired.append(kReplacement);
      copied = i + c.length;
    }
    i += c.length;
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

namespace {

using CaseMapping = void (*)(const char*, uint32_t, icu::StringPiece, icu::ByteSink&, icu::Edits*, UErrorCode&);

std::string case_mapped(std::string_view text, CaseMapping map) {
  const icu::StringPiece source = checked(text);
  UErrorCode status = U_ZERO_ERROR;
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  map("", 0, source, sink, nullptr, status);  // "": the root locale, not the system's
  check(status);
  return result;
}

}  // namespace

std::string lower_case(std::string_view text) { return case_mapped(text, icu::CaseMap::utf8ToLower); }

std::string upper_case(std::string_view text) { return case_mapped(text, icu::CaseMap::utf8ToUpper); }

std::u32string to_code_points(std::string_view text) {
  std::u32string code_points;
  code_points.reserve(text.size());
  for (size_t i = 0; i < text.size();) code_points += next_code_point(text, i);
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

std::string_view strip_end(std::string_view text) {
  while (!text.empty()) {
    size_t last = text.size() - 1;
    while (last > 0 && text.size() - last < U8_MAX_LENGTH && is_continuation_byte(text[last])) --last;
    const CodePoint c = code_point_at(text, last);
    if (last + c.length != text.size() || !is_python_space(c.value)) break;
    text.remove_suffix(c.length);
  }
  return text;
}

std::string_view strip(std::string_view text) {
  while (!text.empty()) {
    const CodePoint c = code_point_at(text, 0);
    if (!is_python_space(c.value)) break;
    text.remove_prefix(c.length);
  }
  return strip_end(text);
}

}  // namespace nmt
