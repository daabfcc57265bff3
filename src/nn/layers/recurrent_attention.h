#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <memory>

#include "config/kinds.h"
#include "nn/ops/forward_context.h"
#include "nn/ops/linear.h"
#include "nn/scores/attention_score.h"

namespace nmt {

/// Local attention (Luong et al. 2015, sec. 3.2): weights of the scores within D positions of a centre p alone, of a
/// source of S positions:
///   predictive ("local-p")  p = S sigmoid(vᵀ tanh(W q)) (eq. 9), weights times exp(-(s - p)² / (2 (D/2)²)) (eq. 10)
///   monotonic ("local-m")   p = t, the position of the query in its translation. From the source's last position on
///                           it stays there: a longer translation has something to look at. No weights of its own
/// The weights are softmax of these scores, or the scores themselves.
class LocalWindowImpl : public torch::nn::Module {
 public:
  struct Options {
    AttentionWindow kind = AttentionWindow::kPredictive;
    int64_t query = 512, inner = 512;  ///< features of a query, of the hidden layer
    int64_t window = 10;               ///< D
    bool softmax = true;
  };
  explicit LocalWindowImpl(const Options& options);
  /// query [batch, target, query], all at `position` of their translations, from 0; scores [batch, target, source];
  /// lengths int64 [batch] on the CPU. Returns weights float32 [batch, target, source], 0 on padding.
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& scores, const torch::Tensor& lengths,
                        int64_t position);

 private:
  /// p: [batch, target, 1] or [batch, 1, 1]; sizes float32 [batch, 1, 1]: S.
  torch::Tensor centres(const torch::Tensor& query, const torch::Tensor& sizes, int64_t position);

  Options options_;
  Linear hidden_{nullptr}, centre_{nullptr};  // W; v
};
TORCH_MODULE(LocalWindow);

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
