#include "text/pairs/json_lines_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/files/json_file.h"
#include "base/strict_json.h"
#include "base/unicode.h"

namespace nmt {

JsonLinesReader::JsonLinesReader(CorpusFiles files, Utf8Policy policy)
    : PairReader(std::move(files), policy), lines_(open_lines(files_)) {}

bool JsonLinesReader::next(TextPair& pair) {
  for (;;) {
    const auto line = with_option_named(files_.source_option, [&] { return lines_.next(); });
    if (!line) return false;
    const std::string json = checked(*line, lines_, files_.source_option);
    if (strip(json).empty()) continue;
    const auto object = parse(json);
    if (!object.is_object()) refuse(fmt::format("is no JSON object{}", escape_hint(json)));
    const auto inner = object.find("translation");
    const auto& sides = inner != object.end() && inner->is_object() ? *inner : object;
    pair.source = text(sides, "source", files_.source_language);
    pair.target = text(sides, "target", files_.target_language);
    return true;
  }
}

/// null for what is no JSON. The library's parser takes the last of equal keys, so they are looked for on its way.
nlohmann::json JsonLinesReader::parse(std::string_view json) const {
  if (problem_of_json(json, {.bytes = json.size(), .depth = 16})) return {};
  std::vector<std::set<std::string>> keys;  // of each object that is open
  return nlohmann::json::parse(json, [&](int, nlohmann::json::parse_event_t event, const nlohmann::json& found) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event != Event::key) return true;
    const auto& key = found.get_ref<const std::string&>();
    if (!keys.back().insert(key).second) refuse(fmt::format("\"{}\" stands twice in an object", key));
    return true;
  });
}

std::string JsonLinesReader::text(const nlohmann::json& object, const char* key, const std::string& language) const {
  auto found = object.find(language);
  if (found == object.end()) found = object.find(key);
  if (found == object.end()) refuse(fmt::format("has neither \"{}\" nor \"{}\"", language, key));
  if (!found->is_string()) refuse(fmt::format("\"{}\" is no text", found.key()));
  auto text = found->get<std::string>();
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

void JsonLinesReader::refuse(const std::string& why) const {
  throw Error(fmt::format(R"({} {}:{}: {}; a line is {{"source": "...", "target": "..."}}, or has the keys "{}", "{}")",
                          files_.source_option, files_.source.string(), lines_.line_number(), why,
                          files_.source_language, files_.target_language));
}

}  // namespace nmt
