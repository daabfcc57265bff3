#include "library/inner/json_answer.h"

#include <cstdint>
#include <utility>

namespace nmt::api {

Json to_json(const Alternative& alternative, const TranslateOptions& options) {
  Json json = {{"text", alternative.text},
               {"score", alternative.score},
               {"log_probability", alternative.log_probability},
               {"tokens", alternative.tokens},
               {"finished", alternative.finished},
               {"meets_constraints", alternative.meets_constraints}};
  if (alternative.shortened) json["shortened"] = true;
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
    for (const auto& matrix : alternative.attention)
      matrices.push_back({{"rows", matrix.rows}, {"columns", matrix.columns}, {"weights", matrix.weights}});
  }
  return json;
}

Json to_json(const Translation& translation, const TranslateOptions& options) {
  Json alternatives = Json::array();
  for (const auto& alternative : translation.alternatives) alternatives.push_back(to_json(alternative, options));
  return {{"text", translation.text},
          {"alternatives", std::move(alternatives)},
          {"source_tokens", translation.source_tokens},
          {"target_tokens", translation.target_tokens},
          {"split", translation.split},
          {"repaired", translation.repaired}};
}

Json to_json(const Score& score) {
  Json json = {{"name", score.name},           {"score", score.score},
               {"signature", score.signature}, {"short_signature", score.short_signature},
               {"text", score.text},           {"json", score.json}};
  if (score.confidence)
    json["confidence"] = {{"mean", score.confidence->mean}, {"half_width", score.confidence->half_width}};
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
  Json json = {{"epoch", figures.epoch},     {"update", figures.update},         {"set", figures.set},
               {"loss", figures.loss},       {"perplexity", figures.perplexity}, {"accuracy", figures.accuracy},
               {"is_best", figures.is_best}, {"seconds", figures.seconds},       {"weights", figures.weights}};
  if (figures.bleu) json.update({{"bleu", *figures.bleu}, {"bleu_text", figures.bleu_text}});
  if (figures.chrf) json.update({{"chrf", *figures.chrf}, {"chrf_text", figures.chrf_text}});
  return json;
}

namespace {

Json with_event(const char* event, Json figures) {
  figures["event"] = event;
  return figures;
}

}  // namespace

TrainingCallbacks callbacks_to(const std::function<void(const Json&)>& tell) {
  return {
      .on_start =
          [tell](const TrainingStart& start) {
            tell({{"event", "start"},
                  {"run_directory", start.run_directory},
                  {"parameters", start.parameters},
                  {"update", start.update},
                  {"max_updates", start.max_updates},
                  {"updates_per_epoch", start.updates_per_epoch},
                  {"max_epochs", start.max_epochs},
                  {"device", start.device},
                  {"precision", start.precision},
                  {"threads", start.threads}});
          },
      .on_update =
          [tell](const UpdateFigures& figures) {
            tell({{"event", "update"},
                  {"epoch", figures.epoch},
                  {"update", figures.update},
                  {"loss", figures.loss},
                  {"perplexity", figures.perplexity},
                  {"accuracy", figures.accuracy},
                  {"learning_rate", figures.learning_rate},
                  {"gradient_norm", figures.gradient_norm},
                  {"source_tokens", figures.source_tokens},
                  {"target_tokens", figures.target_tokens},
                  {"skipped", figures.skipped}});
          },
      .on_interval =
          [tell](const IntervalFigures& figures) {
            tell({{"event", "interval"},
                  {"epoch", figures.epoch},
                  {"update", figures.update},
                  {"loss", figures.loss},
                  {"perplexity", figures.perplexity},
                  {"accuracy", figures.accuracy},
                  {"learning_rate", figures.learning_rate},
                  {"gradient_norm", figures.gradient_norm},
                  {"source_tokens_per_second", figures.source_tokens_per_second},
                  {"target_tokens_per_second", figures.target_tokens_per_second},
                  {"target_tokens", figures.target_tokens},
                  {"skipped_updates", figures.skipped_updates},
                  {"seconds_left", figures.seconds_left}});
          },
      .on_epoch =
          [tell](const EpochFigures& figures) {
            tell({{"event", "epoch"},
                  {"epoch", figures.epoch},
                  {"update", figures.update},
                  {"loss", figures.loss},
                  {"perplexity", figures.perplexity}});
          },
      .on_validation = [tell](const ValidationFigures& figures) { tell(with_event("validation", to_json(figures))); },
      .on_checkpoint =
          [tell](std::int64_t update) {
            tell({{"event", "checkpoint"}, {"update", update}});
          }};
}

}  // namespace nmt::api
