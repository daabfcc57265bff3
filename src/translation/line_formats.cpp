#include "translation/line_formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/strict_json.h"
#include "base/unicode.h"
#include "translation/lines/word_alignment.h"

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

Request parse_tsv(std::string_view line) {
  constexpr size_t kColumns = 4;
  const auto columns = split(line, '\t');
  if (columns.size() > kColumns) {
    throw Error(fmt::format("{} columns; use SOURCE, PREFIX, MUST and MUST_NOT, separated by tabs", columns.size()));
  }
  Request request{.source = std::string(columns[0])};
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

Request parse_json(std::string_view line) {
  if (strip(line).empty()) return {};
  if (!parse_json_or_null(line, {.depth = 3, .values = 1 << 16}).is_object())
    throw Error(fmt::format("not a JSON object{}; use {{\"source\": \"...\"}}", escape_hint(line)));
  const auto object = parse_object(line);
  Request request;
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

Request parse_request(std::string_view line, InputFormat format) {
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

std::string in_one_column(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(
      result, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return result;
}

namespace {

using Json = nlohmann::ordered_json;

const Alternative kNothing;  // the translation of an empty line

std::span<const Alternative> chosen(const Translation& translation, const OutputOptions& options) {
  if (translation.alternatives.empty()) return {&kNothing, 1};
  return std::span(translation.alternatives).first(options.all_alternatives ? translation.alternatives.size() : 1);
}

std::string column_text(OutputColumn column, const OutputItem& item, const Alternative& alternative, int64_t rank,
                        const TextCodec& codec) {
  switch (column) {
    case OutputColumn::kLine:
      return std::to_string(item.number);
    case OutputColumn::kRank:
      return std::to_string(rank);
    case OutputColumn::kScore:
      return fmt::format("{:.6f}", alternative.score);
    case OutputColumn::kTokens:
      return std::to_string(alternative.tokens);
    case OutputColumn::kSource:
      return in_one_column(item.source);
    case OutputColumn::kTranslation:
      return in_one_column(alternative.text);
    case OutputColumn::kTokenScores:
      return fmt::format("{:.6f}", fmt::join(alternative.token_log_probabilities, " "));
    case OutputColumn::kAlignment:
      return pharaoh_alignment(codec, item.source, alternative);
  }
  return "";
}

/// The fields of one translation, added to those that are there.
void add_fields(Json& object, const OutputItem& item, const Alternative& alternative, const TextCodec& codec,
                const OutputOptions& options) {
  object["translation_text"] = alternative.text;
  object["score"] = alternative.score;
  object["log_probability"] = alternative.log_probability;
  object["tokens"] = alternative.tokens;
  if (alternative.expected_utility) object["expected_utility"] = *alternative.expected_utility;
  object["finished"] = alternative.finished;
  if (!alternative.meets_constraints) object["meets_constraints"] = false;
  if (options.has(OutputColumn::kTokenScores)) {
    object["token_scores"] = alternative.token_log_probabilities;
    object["pieces"] = token_pieces(alternative, codec);
  }
  if (options.has(OutputColumn::kAlignment)) object["alignment"] = pharaoh_alignment(codec, item.source, alternative);
}

Json to_json(const OutputItem& item, const TextCodec& codec, const OutputOptions& options) {
  Json object = {{"line", item.number}, {"source", item.source}};
  const auto alternatives = chosen(item.translation, options);
  add_fields(object, item, alternatives.front(), codec, options);
  if (item.translation.loop) object["loop"] = true;
  if (!options.all_alternatives) return object;
  object["alternatives"] = Json::array();
  for (const auto& alternative : alternatives)
    add_fields(object["alternatives"].emplace_back(), item, alternative, codec, options);
  return object;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

bool OutputOptions::has(OutputColumn column) const { return std::ranges::find(columns, column) != columns.end(); }

std::vector<std::string> token_pieces(const Alternative& alternative, const TextCodec& codec) {
  std::vector<std::string> pieces;
  for (const auto& part : alternative.parts) {
    for (const int32_t id : part.target) pieces.push_back(codec.target().piece(id));
    if (part.finished) pieces.push_back(codec.target().piece(SpecialIds::kEnd));
  }
  return pieces;
}

std::string format_item(const OutputItem& item, const TextCodec& codec, const OutputOptions& options) {
  if (options.format == OutputFormat::kJsonLines) return dump(to_json(item, codec, options));
  std::string lines;
  int64_t rank = 0;
  for (const auto& alternative : chosen(item.translation, options)) {
    ++rank;
    std::string_view separator;
    for (const auto column : options.columns) {
      lines += separator;
      lines += column_text(column, item, alternative, rank, codec);
      separator = "\t";
    }
    lines += '\n';
  }
  return lines;
}

std::string format_json_list(std::span<const Translation> translations, const OutputOptions& options) {
  auto list = Json::array();
  for (const auto& translation : translations) {
    auto own = Json::array();
    for (const auto& alternative : chosen(translation, options))
      own.push_back({{"translation_text", alternative.text}});
    if (options.all_alternatives && translations.size() > 1) {
      list.push_back(std::move(own));
    } else {
      list.insert(list.end(), own.begin(), own.end());
    }
  }
  return dump(list);
}

}  // namespace nmt
