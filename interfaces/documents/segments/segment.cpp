#include "documents/segments/segment.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>

#include "base/unicode.h"

namespace nmt::documents {

size_t collapsible_length(std::string_view text, size_t i) {
  const auto byte = static_cast<unsigned char>(text[i]);
  if (byte <= 0x20 || byte == 0x7F) return 1;
  if (byte == 0xC2 && text.substr(i, 2) == "\xC2\x85") return 2;
  if (byte == 0xE2 && (text.substr(i, 3) == "\xE2\x80\xA8" || text.substr(i, 3) == "\xE2\x80\xA9")) return 3;
  return 0;
}

namespace {

/// Scripts that write the same letters with and without joiners.
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
  const bool is_joiner = c == 0x200C || c == 0x200D;
  if (is_joiner) {
    size_t before = i;
    while (before > 0 && is_continuation_byte(text[--before])) {
    }
    return before == i || needs_no_joiner(static_cast<UChar32>(next_code_point(text, before))) ? end - i : 0;
  }
  const bool is_invisible = c == 0xAD || c == 0x61C || c == 0x200B || c == 0x200E || c == 0x200F ||
                            (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x2064) ||
                            (c >= 0x2066 && c <= 0x206F) || c == 0xFEFF;
  return is_invisible ? end - i : 0;
}

bool is_white(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = std::max(collapsible_length(text, i), invisible_length(text, i));
    if (length == 0) return false;
    i += length;
  }
  return true;
}

bool has_letter(std::string_view text) {
  for (size_t i = 0; i < text.size();)
    if (u_isalpha(static_cast<UChar32>(next_code_point(text, i)))) return true;
  return false;
}

CollapsedText collapse(std::string_view text) {
  CollapsedText out;
  std::string space;
  for (size_t i = 0; i < text.size();) {
    if (const size_t length = collapsible_length(text, i)) {
      space += text.substr(i, length);
      i += length;
      continue;
    }
    if (const size_t length = invisible_length(text, i)) {
      i += length;
      continue;
    }
    if (out.text.empty())
      out.lead = space;
    else if (!space.empty())
      out.text += ' ';
    space.clear();
    out.text += text[i++];
  }
  out.tail = space;
  return out;
}

}  // namespace nmt::documents
