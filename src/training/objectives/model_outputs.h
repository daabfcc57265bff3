#pragma once

#include <vector>

#include "models/interface/model.h"

namespace nmt {

/// What a model gives for a batch under teacher forcing.
struct ModelOutputs {
  torch::Tensor hidden;                 ///< [batch, target, model] before the output layer; padding rows are undefined
  std::vector<AttentionMap> attention;  ///< of each layer, with gradient, where it was asked for
};

enum class AttentionWeights { kLeft, kRecorded };

/// Runs the model. Recorded weights of attention cost the fast path: the layers then take the plain one, whose random
/// numbers and results are the same up to rounding.
ModelOutputs run_model(TranslationModel& model, const TensorBatch& batch, ForwardContext& context,
                       AttentionWeights attention = AttentionWeights::kLeft);

}  // namespace nmt
