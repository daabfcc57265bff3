#include "server/http/form.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/unicode.h"
#include "server/http/http_message.h"

namespace nmt {
namespace {

constexpr size_t kMostParts = 100;

std::string decode(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += plus_is_blank && text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

/// Takes the part before the separator off the text, and the separator.
std::string_view take_until(std::string_view& text, std::string_view separator) {
  const std::string_view taken = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(taken.size() + separator.size(), text.size()));
  return taken;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The name of a file, without the folders that some browsers send along.
std::string last_of_path(const std::string& name) { return name.substr(name.find_last_of("/\\") + 1); }

}  // namespace

std::map<std::string, std::string> parse_form(std::string_view body) {
  std::map<std::string, std::string> fields;
  while (!body.empty()) {
    std::string_view value = take_until(body, "&");
    const std::string_view name = take_until(value, "=");
    fields.emplace(decode(name, true), decode(value, true));
  }
  return fields;
}

std::string decode_percent(std::string_view text) { return decode(text, false); }

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    if (plain)
      encoded += c;
    else
      encoded.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
  }
  return encoded;
}

std::string header_parameter(std::string_view header, std::string_view name) {
  take_until(header, ";");
  while (!header.empty()) {
    const std::string_view own = trimmed(take_until(header, "="));
    std::string value;
    while (!header.empty() && (header.front() == ' ' || header.front() == '\t')) header.remove_prefix(1);
    if (header.starts_with('"')) {
      // Only escapes of the quote itself are in use (browsers write %22): a \ in a file's name is a folder's.
      header.remove_prefix(1);
      while (!header.empty() && header.front() != '"') {
        if (header.starts_with("\\\"")) header.remove_prefix(1);
        value += header.front();
        header.remove_prefix(1);
      }
      take_until(header, ";");
    } else {
      value = trimmed(take_until(header, ";"));
    }
    if (same_ignoring_case(own, name)) return value;
  }
  return {};
}

std::string extended_parameter(std::string_view header, const std::string& name) {
  const std::string extended = header_parameter(header, name + "*");
  std::string_view rest = extended;
  const std::string_view charset = take_until(rest, "'");
  take_until(rest, "'");  // the language
  std::string value = decode_percent(rest);
  if (same_ignoring_case(charset, "iso-8859-1")) {
    std::u32string characters;
    for (const char c : value) characters += static_cast<unsigned char>(c);
    value = to_utf8(characters);
  } else if (!same_ignoring_case(charset, "utf-8") || find_invalid_utf8(value)) {
    value.clear();
  }
  return value.empty() ? header_parameter(header, name) : value;
}

std::vector<FormPart> parse_multipart(std::string_view body, std::string_view content_type) {
  const std::string boundary = header_parameter(content_type, "boundary");
  if (boundary.empty() || boundary.size() > 200)
    throw RequestError(400, "the form in parts does not say what divides them");
  const std::string divider = "\r\n--" + boundary;
  std::vector<FormPart> parts;
  // The first divider may stand at the very beginning.
  if (body.starts_with(std::string_view(divider).substr(2)))
    body.remove_prefix(divider.size() - 2);
  else
    take_until(body, divider);
  while (!body.starts_with("--")) {
    const std::string_view rest_of_line = take_until(body, "\r\n");
    if (body.empty() || !trimmed(rest_of_line).empty()) throw RequestError(400, "the form in parts does not end");
    if (parts.size() == kMostParts) throw RequestError(400, "the form has too many parts");
    FormPart part;
    bool headers_end = false;
    while (!headers_end) {
      if (body.empty()) throw RequestError(400, "the form in parts is cut off");
      std::string_view header = take_until(body, "\r\n");
      headers_end = header.empty();
      if (!same_ignoring_case(take_until(header, ":"), "Content-Disposition")) continue;
      part.name = header_parameter(header, "name");
      part.file_name = last_of_path(extended_parameter(header, "filename"));
    }
    const size_t end = body.starts_with(std::string_view(divider).substr(2)) ? 0 : body.find(divider);
    if (end == std::string_view::npos) throw RequestError(400, "the form in parts is cut off");
    part.content = body.substr(0, end);
    body.remove_prefix(end + divider.size() - (body.substr(end).starts_with("\r\n") ? 0 : 2));
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace nmt
