#include "data/own_text/own_configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "config/loading/presets.h"
#include "config/loading/schema.h"

namespace nmt {
namespace {

constexpr int64_t kSmall = 40'000, kMedium = 1'000'000;  // pairs from which the next preset is

std::string_view preset_for(int64_t pairs) {
  return pairs < kSmall ? "small_text" : pairs < kMedium ? "medium_text" : "large_text";
}

/// A piece should be seen some dozens of times: a smaller text has fewer.
int64_t vocabulary_for(int64_t pairs) {
  if (pairs < 10'000) return 2000;
  if (pairs < kSmall) return 4000;
  if (pairs < 200'000) return 8000;
  return pairs < kMedium ? 16000 : 32000;
}

/// Weights of the layers: 4 d^2 of an attention, 2 d d_ff of a feed-forward net, and the output layer.
int64_t multiplied_weights(const ModelConfig& model, int64_t vocab_size) {
  const int64_t attention = 4 * model.d_model * model.d_model, feed_forward = 2 * model.d_model * model.d_ff;
  return model.num_blocks * (3 * attention + 2 * feed_forward) + vocab_size * model.d_model;
}

/// The preset by itself: what it says of validation needs a set, which every text of one's own gets.
Config preset_config(std::string_view name) {
  Config config =
      parse_config(find_preset(name)->yaml, std::string(name), {"data.eval1=valid", "data.eval2=valid"}).config;
  config.data.eval1.clear(), config.data.eval2.clear();
  return config;
}

}  // namespace

OwnPlan plan_training(const TextSurvey& training) {
  OwnPlan plan{.preset = preset_for(training.pairs), .vocab_size = vocabulary_for(training.pairs)};
  const Config config = preset_config(plan.preset);
  const double pieces_in_word = plan.vocab_size <= 4000 ? 1.6 : 1.35;
  const double tokens = static_cast<double>(training.pairs) * (training.words() * pieces_in_word + 1);
  const double updates = std::max(1.0, tokens / static_cast<double>(config.training.batch_size));  // of an epoch
  // As many updates as a small text needs to be learned, within bounds; larger ones see each pair less often.
  constexpr double kUpdates = 6000;
  plan.num_epochs = training.pairs < kSmall ? std::clamp<int64_t>(std::lround(kUpdates / updates), 20, 150)
                                            : config.training.num_epochs;
  plan.updates = std::lround(updates * static_cast<double>(plan.num_epochs));
  plan.tokens = std::lround(tokens * static_cast<double>(plan.num_epochs));
  plan.warmup_steps = std::clamp<int64_t>(plan.updates / 10, 50, config.training.warmup_steps);
  plan.parameters = multiplied_weights(config.model, plan.vocab_size);
  return plan;
}

std::string own_configuration(const DataConfig& data, const std::string& run_dir, const TextSurvey& training,
                              const OwnPlan& plan) {
  const Config preset = preset_config(plan.preset);
  Config config = preset;
  config.data.dir = data.dir;
  config.data.source_language = data.source_language, config.data.target_language = data.target_language;
  config.data.train1 = data.train1, config.data.train2 = data.train2;
  config.data.eval1 = data.eval1, config.data.eval2 = data.eval2;
  config.data.test1 = data.test1, config.data.test2 = data.test2;
  config.data.drop_test_overlap = true;
  config.data.vocab_size = plan.vocab_size;
  config.training.num_epochs = plan.num_epochs;
  config.training.warmup_steps = plan.warmup_steps;
  config.run.dir = run_dir;
  return fmt::format("# {} to {}: {} pairs, {:.1f} words in a sentence.\nbase: {}\n{}", data.source_language,
                     data.target_language, training.pairs, training.words(), plan.preset, changed_yaml(config, preset));
}

}  // namespace nmt
