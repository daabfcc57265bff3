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
  int64_t vocab_size = 0;
  int64_t num_epochs = 0, warmup_steps = 0;
  int64_t updates = 0;     ///< about: of all epochs
  int64_t tokens = 0;      ///< about: target pieces of all epochs
  int64_t parameters = 0;  ///< of the layers and the output, which are multiplied; not of the embeddings
};

/// By the number of pairs and the length of the target's sentences alone.
OwnPlan plan_training(const TextSurvey& training);

/// The configuration as a person would write it, in at most 20 lines: `base:` and what differs from it. data: files,
/// languages and folders.
std::string own_configuration(const DataConfig& data, const std::string& run_dir, const TextSurvey& training,
                              const OwnPlan& plan);

}  // namespace nmt
