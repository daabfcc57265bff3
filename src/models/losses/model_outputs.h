#pragma once

#include <string>
#include <vector>

#include "models/interface/model.h"
#include "nn/ops/cross_entropy.h"

namespace nmt {

/// What a model gives for a batch under teacher forcing.
struct ModelOutputs {
  torch::Tensor hidden;                 ///< [batch, target, model] before the output layer; padding rows are undefined
  std::vector<AttentionMap> attention;  ///< of each layer, with gradient, where it was asked for
  torch::Tensor auxiliary_loss;         ///< the sum over all modules that have one (AuxiliaryLoss); undefined: none has
};

enum class AttentionWeights { kLeft, kRecorded };

/// Runs the model. Recorded weights of attention cost the fast path: the layers then take the plain one, whose random
/// numbers and results are the same up to rounding. layer: AttentionMap::name of the one that is recorded; empty: all.
ModelOutputs run_model(TranslationModel& model, const TensorBatch& batch, ForwardContext& context,
                       AttentionWeights attention = AttentionWeights::kLeft, const std::string& layer = {});

/// Adds the model's auxiliary loss to that of so many target tokens, each of which counts the same.
LossSums with_auxiliary_loss(LossSums sums, const ModelOutputs& outputs, int64_t target_tokens);

}  // namespace nmt
