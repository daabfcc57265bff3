#include "report/pictures/markup.h"

#include <openssl/evp.h>

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
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // with the zero byte that OpenSSL puts behind
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  text.pop_back();
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
