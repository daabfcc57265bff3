#include "text/pairs/json_lines_reader.h"

#include <fmt/format.h>

#include <algorithm>

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
    const auto object = parse_json_or_null(json, {.bytes = json.size(), .depth = 16});
    if (!object.is_object()) refuse(fmt::format("is no JSON object{}", escape_hint(json)));
    const auto inner = object.find("translation");
    const auto& sides = inner != object.end() && inner->is_object() ? *inner : object;
    pair.source = text(sides, "source", files_.source_language);
    pair.target = text(sides, "target", files_.target_language);
    return true;
  }
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
