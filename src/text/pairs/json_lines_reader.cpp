#include "text/pairs/json_lines_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/files/strict_json.h"
#include "base/unicode.h"

namespace nmt {
namespace {

constexpr std::array<std::string_view, 2> kKeys = {"source", "target"};

/// Whether a line that looks like an object says `key`.
bool has_key(std::string_view line, std::string_view key) {
  return !key.empty() && line.find(fmt::format("\"{}\"", key)) != std::string_view::npos;
}

}  // namespace

bool JsonLinesReader::fits(const FileBeginning& file) {
  if (file.is_named(".jsonl") || file.is_named(".ndjson")) return true;
  const std::string_view line = file.first_line();
  if (file.is_named(".json") && (line.starts_with('{') || line.starts_with('['))) return true;  // or next() refuses it
  if (!line.starts_with('{') || !strip(line.substr(1)).starts_with('"')) return false;
  const auto has_side = [&](TextSide side) {
    return has_key(line, kKeys[static_cast<size_t>(side)]) || has_key(line, file.reading.language(side));
  };
  return has_key(line, "translation") || (has_side(TextSide::kSource) && has_side(TextSide::kTarget));
}

bool JsonLinesReader::next(TextPair& pair) {
  for (;;) {
    const auto json = next_text();
    if (!json) return false;
    if (strip(*json).empty()) continue;
    const auto object = parse(*json);
    if (!object.is_object()) refuse_object(fmt::format("is no JSON object{}", escape_hint(*json)));
    const auto inner = object.find("translation");
    const auto& sides = inner != object.end() && inner->is_object() ? *inner : object;
    for (const auto side : {TextSide::kSource, TextSide::kTarget}) pair.of(side) = text(sides, side);
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
    if (!keys.back().insert(key).second) refuse_object(fmt::format("\"{}\" stands twice in an object", key));
    return true;
  });
}

std::string JsonLinesReader::text(const nlohmann::json& object, TextSide side) const {
  const auto key = kKeys[static_cast<size_t>(side)];
  const auto& language = file_.reading.language(side);
  auto found = language.empty() ? object.end() : object.find(language);
  if (found == object.end()) found = object.find(key);
  if (found == object.end())
    refuse_object(language.empty() ? fmt::format("has no \"{}\"", key)
                                   : fmt::format("has neither \"{}\" nor \"{}\"", language, key));
  if (!found->is_string()) refuse_object(fmt::format("\"{}\" is no text", found.key()));
  auto text = found->get<std::string>();
  if (text.find('\0') != std::string::npos) refuse_object(fmt::format("\"{}\" holds NUL", found.key()));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

void JsonLinesReader::refuse_object(const std::string& why) const {
  const auto& [source, target, utf8, columns] = file_.reading;
  refuse(why + R"(; a line is {"source": "...", "target": "..."})" +
         (source.empty() ? "" : fmt::format(R"(, or has the keys "{}", "{}")", source, target)));
}

}  // namespace nmt
