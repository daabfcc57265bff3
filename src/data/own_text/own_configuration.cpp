#include "data/own_text/own_configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "config/loading/presets.h"
#include "config/loading/schema.h"

namespace nmt {
namespace {

/// A piece should be seen some dozens of times, so a smaller text has fewer; a small text is read more often, but each
/// has an end.
struct SizeOfText {
  int64_t pairs_below;
  std::string_view preset;
  int64_t vocab_size;
  double tokens;  // of targets in the whole training, where the number of epochs allows it
  int64_t least_epochs, most_epochs;
  double tokens_per_second;  // of targets, on kMeasuredProcessors
};

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr std::array kSizes{
    SizeOfText{10'000, "small_text", 2000, 17e6, 25, 100, 11'000},
    SizeOfText{40'000, "small_text", 4000, 30e6, 20, 60, 10'000},
    SizeOfText{200'000, "medium_text", 8000, 60e6, 10, 30, 5600},
    SizeOfText{1'000'000, "medium_text", 16'000, 200e6, 5, 20, 5400},
    SizeOfText{kMost, "large_text", 32'000, 2e9, 3, 20, 600},
};

const SizeOfText& size_of(int64_t pairs) {
  return *std::ranges::find_if(kSizes, [&](const SizeOfText& size) { return pairs < size.pairs_below; });
}

Config preset_config(std::string_view name) { return parse_config(find_preset(name)->yaml, std::string(name)).config; }

/// About how many pieces the targets have: languages that put no spaces between words have pieces of few characters.
double pieces_of(const TextSurvey& text, int64_t vocab_size) {
  constexpr int64_t kLongestWord = 12;
  if (text.target_characters > kLongestWord * text.target_words)
    return static_cast<double>(text.target_characters) / 1.5;
  return static_cast<double>(text.target_words) * (vocab_size <= 4000 ? 1.6 : 1.35);
}

}  // namespace

OwnPlan plan_training(const TextSurvey& training) {
  const SizeOfText& size = size_of(training.pairs);
  const TrainingConfig preset = preset_config(size.preset).training;
  const double tokens = pieces_of(training, size.vocab_size) + static_cast<double>(training.pairs);
  constexpr double kWiderSide = 1.15;  // a batch counts the longer of both sides, and its padding
  const double updates = std::max(1.0, kWiderSide * tokens / static_cast<double>(preset.batch_size));  // an epoch
  const int64_t epochs = std::clamp<int64_t>(std::lround(size.tokens / tokens), size.least_epochs, size.most_epochs);
  const double all = updates * static_cast<double>(epochs);
  return {.preset = size.preset,
          .vocab_size = size.vocab_size,
          .num_epochs = epochs,
          .warmup_steps = std::clamp<int64_t>(std::lround(all / 10), 50, preset.warmup_steps),
          .updates_per_epoch = std::lround(updates),
          .seconds = tokens * static_cast<double>(epochs) / size.tokens_per_second};
}

std::string own_configuration(const DataConfig& data, const std::string& run_dir, const TextSurvey& training,
                              const OwnPlan& plan) {
  Config preset = preset_config(plan.preset);
  preset.data.source_language.clear(), preset.data.target_language.clear();  // always said
  Config config = preset;
  config.data.dir = data.dir;
  config.data.source_language = data.source_language, config.data.target_language = data.target_language;
  config.data.train1 = data.train1, config.data.train2 = data.train2;
  config.data.eval1 = data.eval1, config.data.eval2 = data.eval2;
  config.data.test1 = data.test1, config.data.test2 = data.test2;
  config.data.vocab_size = plan.vocab_size;
  config.training.num_epochs = plan.num_epochs;
  config.training.warmup_steps = plan.warmup_steps;
  config.run.dir = run_dir;
  return fmt::format("# {} to {}: {} pairs, {:.1f} words in a target sentence\nbase: {}\n{}", data.source_language,
                     data.target_language, training.pairs, training.words(), plan.preset, changed_yaml(config, preset));
}

}  // namespace nmt
