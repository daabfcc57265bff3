#include "server/request_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/unicode.h"
#include "server/http/http_message.h"

namespace nmt {
namespace {

/// An object, and a list in it.
constexpr int kDeepest = 2;
constexpr std::array kContent = {"q", "s", "prefix", "glossary"};
constexpr size_t kLongestWord = 1000;  // bytes of any other field, such as a key

std::string checked(std::string text, const std::string& name) {
  if (const auto byte = find_invalid_utf8(text))
    throw RequestError(400, fmt::format("{}: byte {} is not UTF-8", name, *byte + 1));
  if (text.find('\0') != std::string::npos) throw RequestError(400, fmt::format("{}: holds a NUL character", name));
  return text;
}

/// Browsers send \r\n for each line end of a form, whatever was typed.
std::string with_plain_line_ends(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') plain += text[i];
  }
  return plain;
}

}  // namespace

RequestBody RequestBody::from_json(const std::string& text) {
  try {
    // What is deeper is not built at all: a megabyte of brackets would be a tree of a hundred.
    const auto shallow = [](int depth, nlohmann::json::parse_event_t event, nlohmann::json&) {
      using Event = nlohmann::json::parse_event_t;
      if ((event == Event::object_start || event == Event::array_start) && depth >= kDeepest)
        throw RequestError(
            400, "the body is nested too deeply: an object of texts, numbers and lists of texts was expected");
      return true;
    };
    auto fields = nlohmann::json::parse(text, shallow);
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
  for (const auto& [name, value] : fields) object[name] = with_plain_line_ends(value);
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

/// Calls `see` with each text of the content.
void RequestBody::for_content(const std::function<void(const std::string&)>& see) const {
  for (const char* name : kContent) {
    const auto* field = find(name);
    if (!field) continue;
    if (field->is_string()) see(field->get_ref<const std::string&>());
    if (!field->is_array()) continue;
    for (const auto& item : *field)
      if (item.is_string()) see(item.get_ref<const std::string&>());
  }
}

int64_t RequestBody::characters() const {
  int64_t characters = 0;
  for_content([&](const std::string& text) { characters += count_code_points(text); });
  return characters;
}

bool RequestBody::is_blank() const {
  bool is_blank = true;
  for_content([&](const std::string& text) { is_blank = is_blank && strip(text).empty(); });
  return is_blank;
}

std::vector<std::string> RequestBody::texts(const std::string& name) const {
  const auto* field = find(name);
  if (!field) throw RequestError(400, fmt::format("Invalid request: missing {} parameter", name));
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
  auto text = checked(field->get<std::string>(), name);
  if (text.size() > kLongestWord && std::ranges::find(kContent, name) == kContent.end())
    throw RequestError(400, fmt::format("{}: {} bytes at most were expected", name, kLongestWord));
  return text;
}

int64_t RequestBody::whole_number(const std::string& name, int64_t missing) const {
  const auto* field = find(name);
  if (!field) return missing;
  int64_t number = -1;
  if (field->is_number_unsigned()) {
    const auto given = field->get<uint64_t>();
    if (std::in_range<int64_t>(given)) number = static_cast<int64_t>(given);
  } else if (field->is_string()) {
    const auto& digits = field->get_ref<const std::string&>();
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end) number = -1;
  }
  if (number < 0) throw RequestError(400, fmt::format("{}: a whole number was expected", name));
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
