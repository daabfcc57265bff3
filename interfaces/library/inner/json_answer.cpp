#include "library/inner/json_answer.h"

#include <cstdint>
#include <utility>

namespace nmt::api {

Json to_json(const Alternative& alternative, const TranslateOptions& options) {
  Json json = fields_of(alternative);
  if (alternative.shortened) json["shortened"] = true;
  if (alternative.expected_utility) json["expected_utility"] = *alternative.expected_utility;
  if (options.token_scores) {
    json["pieces"] = alternative.pieces;
    json["token_scores"] = alternative.token_scores;
  }
  if (options.alignment) {
    auto& pairs = json["alignment"] = Json::array();
    for (const auto& pair : alternative.alignment) pairs.push_back({pair.source, pair.target});
  }
  if (options.attention) {
    auto& matrices = json["attention"] = Json::array();
    for (const auto& matrix : alternative.attention) matrices.push_back(fields_of(matrix));
  }
  return json;
}

Json to_json(const Translation& translation, const TranslateOptions& options) {
  Json alternatives = Json::array();
  for (const auto& alternative : translation.alternatives) alternatives.push_back(to_json(alternative, options));
  Json json = {{"text", translation.text}, {"alternatives", std::move(alternatives)}};
  json.update(fields_of(translation));
  return json;
}

Json to_json(const Score& score) {
  Json json = fields_of(score);
  if (score.confidence) json["confidence"] = fields_of(*score.confidence);
  if (score.name == "BLEU")
    json.update({{"counts", score.counts},
                 {"totals", score.totals},
                 {"precisions", score.precisions},
                 {"brevity_penalty", score.brevity_penalty},
                 {"system_length", score.system_length},
                 {"reference_length", score.reference_length}});
  if (score.name == "TER") json.update({{"edits", score.edits}, {"reference_words", score.reference_words}});
  return json;
}

Json to_json(const ValidationFigures& figures) {
  Json json = fields_of(figures);
  if (figures.bleu) json.update({{"bleu", *figures.bleu}, {"bleu_text", figures.bleu_text}});
  if (figures.chrf) json.update({{"chrf", *figures.chrf}, {"chrf_text", figures.chrf_text}});
  return json;
}

TrainingCallbacks callbacks_to(const std::function<void(const Json&)>& tell) {
  const auto as = [&tell](const char* event) {
    return [tell, event](const auto& figures) {
      Json json = {{"event", event}};
      json.update(fields_of(figures));
      tell(json);
    };
  };
  return {.on_start = as("start"),
          .on_update = as("update"),
          .on_interval = as("interval"),
          .on_epoch = as("epoch"),
          .on_validation =
              [tell](const ValidationFigures& figures) {
                Json json = to_json(figures);
                json["event"] = "validation";
                tell(json);
              },
          .on_checkpoint =
              [tell](std::int64_t update) {
                tell({{"event", "checkpoint"}, {"update", update}});
              }};
}

}  // namespace nmt::api
