#pragma once

#include <string>
#include <string_view>

namespace nmt {

/// Text as it stands in HTML, XML and SVG, between tags and in attributes.
std::string escape_xml(std::string_view text);

/// Bytes in base64 (RFC 4648, section 4), as data: addresses hold them.
std::string base64(std::string_view bytes);

/// JSON as a <script> element that a page's script reads: no text in it can end the element.
std::string json_script(std::string_view json);

}  // namespace nmt
