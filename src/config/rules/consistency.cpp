#include "config/rules/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "config/rules/data_rules.h"
#include "config/rules/training_rules.h"

namespace nmt {

void follow_changes(DecodingConfig& decoding, std::span<const std::string> changed) {
  const DecodingConfig defaults;
  const auto is_changed = [&](std::string_view name) { return std::ranges::find(changed, name) != changed.end(); };
  const auto reset = [&](std::string_view name, auto field) {
    if (!is_changed(name)) decoding.*field = defaults.*field;
  };
  if (decoding.sampling && !is_changed("beam_size")) decoding.beam_size = 1;
  if (is_changed("sampling") && !decoding.sampling) {
    reset("temperature", &DecodingConfig::temperature);
    reset("top_k", &DecodingConfig::top_k);
    reset("top_p", &DecodingConfig::top_p);
    reset("seed", &DecodingConfig::seed);
    reset("mbr_samples", &DecodingConfig::mbr_samples);
  }
  if (is_changed("mbr") && decoding.mbr == RiskUtility::kNone) reset("mbr_samples", &DecodingConfig::mbr_samples);
  if (is_changed("diversity_groups") && decoding.diversity_groups == 1)
    reset("diversity_strength", &DecodingConfig::diversity_strength);
  if (is_changed("shortlist") && decoding.shortlist == 0)
    reset("shortlist_frequent", &DecodingConfig::shortlist_frequent);
}

void check_consistency(const Config& config, const std::string& name, const Origins& origins) {
  const RuleChecker checker{config, name, origins};
  check_data_rules(checker);
  check_model_rules(checker);
  check_training_rules(checker);
  check_use_rules(checker);
  if (config.run.histograms && !config.run.tensorboard)
    checker.refuse({"run.histograms", "run.tensorboard"}, "are written for TensorBoard; run.tensorboard is false");
}

void check_explicit(const Config& config, const Origins& origins) {
  const auto require = [&](const char* key, const char* with, const std::string& why) {
    if (origins.contains(key) || !origins.contains(with)) return;
    throw Error(fmt::format("{}: {}: {}", origins.at(with), with, why));
  };
  if (config.training.batch_type == BatchType::kTokens) {
    require(
        "training.batch_size", "training.batch_type",
        fmt::format("tokens needs training.batch_size; its default {} counts sentences", TrainingConfig().batch_size));
  }
  if (config.training.schedule == ScheduleKind::kConstant) {
    require("training.warmup_steps", "training.schedule", "constant needs training.warmup_steps; 0 for no warm-up");
  }
}

}  // namespace nmt
