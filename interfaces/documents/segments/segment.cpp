#include "documents/segments/segment.h"

#include <unicode/uchar.h>

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
