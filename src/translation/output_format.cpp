#include "translation/output_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/strict_json.h"
#include "translation/lines/word_alignment.h"

namespace nmt {
namespace {

using Json = nlohmann::ordered_json;

const Alternative kNothing;  // the translation of an empty line

std::span<const Alternative> chosen(const Translation& translation, const OutputOptions& options) {
  if (translation.alternatives.empty()) return {&kNothing, 1};
  return std::span(translation.alternatives).first(options.all_alternatives ? translation.alternatives.size() : 1);
}

std::string in_one_column(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(
      result, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return result;
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
