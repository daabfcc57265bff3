#include "translation/input_format.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/json_file.h"
#include "base/strict_json.h"
#include "base/unicode.h"

namespace nmt {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

void add_phrase(std::vector<std::string>& phrases, std::string_view text) {
  const auto phrase = strip(text);
  if (!phrase.empty()) phrases.emplace_back(phrase);
}

TranslationRequest parse_tsv(std::string_view line) {
  constexpr size_t kColumns = 4;
  const auto columns = split(line, '\t');
  if (columns.size() > kColumns) {
    throw Error(fmt::format("{} columns; use SOURCE, PREFIX, MUST and MUST_NOT, separated by tabs", columns.size()));
  }
  TranslationRequest request{.source = std::string(columns[0])};
  if (columns.size() > 1) request.prefix = strip(columns[1]);
  if (columns.size() > 2) {
    for (const auto phrase : split(columns[2], '|')) add_phrase(request.must, phrase);
  }
  if (columns.size() > 3) {
    for (const auto phrase : split(columns[3], '|')) add_phrase(request.must_not, phrase);
  }
  return request;
}

const std::string& text_of(const nlohmann::json& value, const std::string& key) {
  if (!value.is_string()) throw Error(fmt::format("\"{}\" is no text", key));
  return value.get_ref<const std::string&>();
}

void add_phrases(std::vector<std::string>& phrases, const nlohmann::json& value, const std::string& key) {
  if (!value.is_string() && !value.is_array())
    throw Error(fmt::format("\"{}\" is neither a text nor a list of texts", key));
  for (const auto& phrase : value.is_string() ? nlohmann::json::array({value}) : value) {
    if (strip(text_of(phrase, key)).empty()) throw Error(fmt::format("\"{}\": a phrase is empty; leave it out", key));
    add_phrase(phrases, text_of(phrase, key));
  }
}

/// A JSON object. Throws Error for a name that stands twice: the library would keep the last of its values.
nlohmann::json parse_object(std::string_view line) {
  std::set<std::string> names;
  const auto look = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (depth == 1 && event == nlohmann::json::parse_event_t::key && !names.insert(value.get<std::string>()).second)
      throw Error(fmt::format("\"{}\" stands twice; a list holds several phrases", value.get<std::string>()));
    return true;
  };
  return nlohmann::json::parse(line, look);
}

TranslationRequest parse_json(std::string_view line) {
  if (strip(line).empty()) return {};
  if (!parse_json_or_null(line, {.depth = 3, .values = 1 << 16}).is_object())
    throw Error(fmt::format("not a JSON object{}; use {{\"source\": \"...\"}}", escape_hint(line)));
  const auto object = parse_object(line);
  TranslationRequest request;
  for (const auto& [key, value] : object.items()) {
    if (key == "source") {
      request.source = text_of(value, key);
    } else if (key == "prefix") {
      request.prefix = strip(text_of(value, key));
    } else if (key == "must") {
      add_phrases(request.must, value, key);
    } else if (key == "must_not") {
      add_phrases(request.must_not, value, key);
    } else {
      throw Error(fmt::format("unknown key \"{}\"; use source, prefix, must and must_not", key));
    }
  }
  if (!object.contains("source")) throw Error("\"source\" is missing");
  return request;
}

}  // namespace

TranslationRequest parse_request(std::string_view line, InputFormat format) {
  switch (format) {
    case InputFormat::kText:
      return {.source = std::string(line)};
    case InputFormat::kTsv:
      return parse_tsv(line);
    case InputFormat::kJson:
      return parse_json(line);
  }
  return {};
}

}  // namespace nmt
