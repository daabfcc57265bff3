#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/batches.h"
#include "models/interface/model.h"
#include "nn/ops/cross_entropy.h"

namespace nmt {

/// Rows of hidden states that count, and their labels. The output layer need not see padding.
struct TargetRows {
  torch::Tensor hidden;  ///< [rows, model]
  torch::Tensor labels;  ///< int64 [rows]; -1: the row fills up
};

/// The rows `real` (int64 [tokens]) of hidden [all rows, model] and labels [all rows], in that order, filled up to a
/// multiple of 256: every new number of rows would cost the product's engine new code.
TargetRows chosen_rows(const torch::Tensor& hidden, const torch::Tensor& labels, const torch::Tensor& real);

/// The real target tokens of a batch. hidden: [batch, target, model].
TargetRows target_rows(const torch::Tensor& hidden, const TensorBatch& batch);

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

/// Label-smoothed cross-entropy of the references of a batch, summed over their real tokens (pieces and the end
/// symbol): also what validation reports. The decoder reads the reference, or what the context says
/// (ForwardContext::set_teacher_forcing). In training it has the model's auxiliary losses, too.
LossSums smoothed_cross_entropy(TranslationModel& model, const TensorBatch& batch, ForwardContext& context,
                                const Smoothing& smoothing);
/// The same of what the model gave for the batch.
LossSums smoothed_cross_entropy(const TranslationModel& model, const ModelOutputs& outputs, const TensorBatch& batch,
                                const Smoothing& smoothing);

/// Batches of held-out text have about so many tokens, padding counted.
constexpr int64_t kHeldOutBatchTokens = 4096;

/// Sums over the target tokens of some batches: pieces of the references, and an end symbol each.
struct LossTotals {
  double loss = 0;        ///< label-smoothed cross-entropy, nats
  double label_loss = 0;  ///< -log p(label), nats
  int64_t correct = 0;    ///< labels with the highest probability
  int64_t target_tokens = 0;

  LossTotals& operator+=(const LossTotals& other);
  double mean_loss() const { return loss / tokens(); }
  double mean_label_loss() const { return label_loss / tokens(); }
  double perplexity() const;  ///< exp of the mean of label_loss
  double accuracy() const { return static_cast<double>(correct) / tokens(); }

 private:
  double tokens() const { return target_tokens > 0 ? static_cast<double>(target_tokens) : 1; }
};

/// What the losses of one batch come to: float64 [3], loss, label_loss and correct.
torch::Tensor loss_row(const LossSums& sums);

/// Without dropout and gradients. teacher_forcing: the share of steps at which the decoder reads the reference; at the
/// others it reads its own most probable token, as a greedy search would (0: free-running), while the reference's token
/// is scored all the same. Only recurrent models look at it.
LossTotals evaluate(TranslationModel& model, std::span<const Batch> batches, const Smoothing& smoothing,
                    torch::Device device, double teacher_forcing = 1);

/// Whether the model has places for a pair: source as the encoder reads it, target with its end symbol.
inline bool fits_into(const LengthLimits& limits, int64_t source_tokens, int64_t target_tokens) {
  return source_tokens <= limits.source && target_tokens <= limits.target;
}

}  // namespace nmt
