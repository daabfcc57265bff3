#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include "config/kinds.h"
#include "nn/ops/linear.h"

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

}  // namespace nmt
