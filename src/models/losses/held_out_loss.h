#pragma once

#include <cstdint>
#include <span>

#include "data/batch.h"
#include "models/interface/model.h"
#include "nn/ops/cross_entropy.h"

namespace nmt {

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
