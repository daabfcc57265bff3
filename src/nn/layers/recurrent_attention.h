#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <memory>

#include "config/kinds.h"
#include "nn/ops/forward_context.h"
#include "nn/scores/additive.h"
#include "nn/scores/attention_score.h"
#include "nn/scores/local_window.h"

namespace nmt {

/// One-headed attention of a recurrent decoder (Bahdanau et al. 2015, A.1.2; Luong et al. 2015): the context of a query
/// is the sum of the values, which are the keys themselves, by their normalised scores.
class RecurrentAttentionImpl : public torch::nn::Module {
 public:
  struct Options {
    Choice<AttentionScoreKind> score = AttentionScoreKind::kAdditive;  ///< local: general within a predictive window
    AttentionScoreOptions sizes;
    bool softmax = true;  ///< false: the scores are the weights
    AttentionWindow window = AttentionWindow::kNone;
    int64_t local_window = 10;  ///< positions on each side
    double dropout = 0;         ///< of the weights
  };
  explicit RecurrentAttentionImpl(const Options& options);

  /// Sentences to attend to, one a row.
  struct Memory {
    torch::Tensor values;    ///< [batch, source, key]
    torch::Tensor prepared;  ///< the same as the score wants its keys
    torch::Tensor lengths;   ///< int64 [batch] on the CPU: values beyond are padding and get weight 0
  };
  Memory prepare(const torch::Tensor& values, const torch::Tensor& lengths);

  struct Result {
    torch::Tensor context;  ///< [batch, target, key], in the values' type
    torch::Tensor weights;  ///< [batch, target, source] float32, before dropout
  };
  /// query [batch, target, query] in the values' type, all at `position` of their translations, from 0 (a window asks
  /// for it); coverage float32 [batch, target, source] or undefined.
  Result forward(const torch::Tensor& query, const Memory& memory, const torch::Tensor& coverage, int64_t position,
                 ForwardContext& pass);
  int64_t max_source() const { return score_->max_source(); }

 private:
  Options options_;
  std::shared_ptr<AttentionScore> score_;
  std::shared_ptr<AdditiveScore> covered_score_;  // score_ where coverage enters it
  LocalWindow window_{nullptr};
};
TORCH_MODULE(RecurrentAttention);

}  // namespace nmt
