#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// The fields of a form (application/x-www-form-urlencoded) or of a query; of a name given twice the first. Bytes as
/// they come.
std::map<std::string, std::string> parse_form(std::string_view body);

/// "a%20b" -> "a b"; a % without two hexadecimal digits stands for itself, as does a plus.
std::string decode_percent(std::string_view text);

/// The other way, of everything but letters, digits and -._~ (RFC 3986).
std::string percent_encoded(std::string_view text);

/// One part of a form in parts (multipart/form-data, RFC 7578).
struct FormPart {
  std::string name;
  std::string file_name = {};  ///< in UTF-8, filename* before filename; empty for a plain field
  std::string_view content;    ///< in the body that was parsed
};

/// The parts of a form; content_type is the header's value, which says what divides them. Time is linear in the body.
/// Throws RequestError 400 for a form that does not end, is cut off, or has more parts than anybody sends.
std::vector<FormPart> parse_multipart(std::string_view body, std::string_view content_type);

/// The value of a parameter of a header: header_parameter("form-data; name=\"q\"", "name") is "q"; empty where it is
/// not there.
std::string header_parameter(std::string_view header, std::string_view name);

/// The same in UTF-8, where the parameter may be an extended one (RFC 5987): filename*=utf-8''Pr%C3%BCfung.txt comes
/// before filename. One in another character set than UTF-8 and ISO-8859-1 counts as none.
std::string extended_parameter(std::string_view header, const std::string& name);

}  // namespace nmt
