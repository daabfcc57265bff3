#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.h"
#include "data/own_text/text_split.h"

namespace nmt {

/// What a text of one's own asks of a training: values over those of a preset.
struct OwnPlan {
  std::string_view preset;  ///< "small_text"
  int64_t vocab_size = 0, num_epochs = 0, warmup_steps = 0;
  int64_t updates_per_epoch = 0;  ///< about
  double seconds = 0;             ///< about: of the training on kMeasuredProcessors
};

/// Where the speeds were measured that OwnPlan::seconds is computed with (docs/results.md).
inline constexpr std::string_view kMeasuredProcessors = "two cores of an AMD EPYC with AVX-512";

/// A function of the number of pairs and of the length of their targets alone.
OwnPlan plan_training(const TextSurvey& training);

/// The configuration as a person would write it, in at most 20 lines: `base:` and what differs from it. data:
/// languages, files and folder.
std::string own_configuration(const DataConfig& data, const std::string& run_dir, const TextSurvey& training,
                              const OwnPlan& plan);

}  // namespace nmt
