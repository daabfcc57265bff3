#pragma once

#include <string>
#include <string_view>

namespace nmt::scoring {

/// True for the names under which Python knows UTF-8 ("utf-8", "UTF8", "u8", ...).
bool is_utf8_name(std::string_view encoding);
/// "utf-8-sig": UTF-8 whose first character does not count if it is U+FEFF.
bool is_utf8_sig_name(std::string_view encoding);

/// Bytes of any encoding that ICU knows, as UTF-8. Throws nmt::Error: unknown encoding, bytes that are none of it.
std::string decode_to_utf8(std::string_view bytes, const std::string& encoding);

}  // namespace nmt::scoring
