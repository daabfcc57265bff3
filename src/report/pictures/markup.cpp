#include "report/pictures/markup.h"

#include <algorithm>
#include <cstdint>

namespace nmt {

std::string escape_xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\n':
        escaped += c;
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;  // XML has no other control characters
    }
  }
  return escaped;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) bits = bits << 8 | (j < count ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j) text += j <= count ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string json_script(std::string_view json) {
  std::string script = "<script type=\"application/json\">";
  for (const char c : json) {
    if (c == '<')
      script += "\\u003c";
    else
      script += c;
  }
  return script + "</script>\n";
}

}  // namespace nmt
