#include "serving/request_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/unicode.h"
#include "serving/request_error.h"

namespace nmt {
namespace {

/// "a%20b+c" -> "a b c"; a % without two hexadecimal digits stands for itself.
std::string decode_form(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

std::string checked(std::string text, const std::string& name) {
  if (const auto byte = find_invalid_utf8(text))
    throw RequestError(400, fmt::format("{}: byte {} is not UTF-8", name, *byte + 1));
  if (text.find('\0') != std::string::npos) throw RequestError(400, fmt::format("{}: holds a NUL character", name));
  return text;
}

}  // namespace

std::map<std::string, std::string> parse_form(std::string_view body) {
  std::map<std::string, std::string> fields;
  while (!body.empty()) {
    const std::string_view pair = body.substr(0, body.find('&'));
    body.remove_prefix(std::min(pair.size() + 1, body.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    fields.emplace(decode_form(pair.substr(0, equals)), decode_form(value));
  }
  return fields;
}

RequestBody RequestBody::from_json(const std::string& text) {
  try {
    auto fields = nlohmann::json::parse(text);
    if (!fields.is_object()) throw RequestError(400, "the body is no JSON object: send {\"q\": \"some text\"}");
    return RequestBody(std::move(fields));
  } catch (const nlohmann::json::exception&) {
    if (const auto byte = find_invalid_utf8(text))
      throw RequestError(400, fmt::format("the body is not UTF-8 at byte {}", *byte + 1));
    throw RequestError(400, "the body is not valid JSON");
  }
}

RequestBody RequestBody::from_form(const std::map<std::string, std::string>& fields) {
  auto object = nlohmann::json::object();
  for (const auto& [name, value] : fields) object[name] = value;
  return RequestBody(std::move(object));
}

const nlohmann::json* RequestBody::find(const std::string& name) const {
  const auto field = fields_.find(name);
  return field == fields_.end() || field->is_null() ? nullptr : &*field;
}

bool RequestBody::is_list(const std::string& name) const {
  const auto* field = find(name);
  return field && field->is_array();
}

std::vector<std::string> RequestBody::texts(const std::string& name) const {
  const auto* field = find(name);
  if (!field) throw RequestError(400, fmt::format("{} is missing: the text to translate, or a list of texts", name));
  if (!field->is_array()) return {text(name)};
  std::vector<std::string> texts;
  for (const auto& item : *field) {
    if (!item.is_string()) throw RequestError(400, fmt::format("{}: a list of texts was expected", name));
    texts.push_back(checked(item.get<std::string>(), name));
  }
  return texts;
}

std::string RequestBody::text(const std::string& name) const {
  const auto* field = find(name);
  if (!field) return {};
  if (!field->is_string()) throw RequestError(400, fmt::format("{}: a text was expected", name));
  return checked(field->get<std::string>(), name);
}

int64_t RequestBody::whole_number(const std::string& name, int64_t missing) const {
  const auto* field = find(name);
  if (!field) return missing;
  const std::string digits = field->is_string() ? field->get<std::string>() : field->dump();
  int64_t number = -1;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number < 0)
    throw RequestError(400, fmt::format("{}: a whole number was expected", name));
  return number;
}

bool RequestBody::yes_or_no(const std::string& name) const {
  const auto* field = find(name);
  if (!field) return false;
  if (field->is_boolean()) return field->get<bool>();
  if (*field != "true" && *field != "false")
    throw RequestError(400, fmt::format("{}: true or false was expected", name));
  return *field == "true";
}

}  // namespace nmt
