#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include "nn/ops/linear.h"

namespace nmt {

/// Local attention with a predicted centre (Luong et al. 2015, "local-p"): of a source of S positions
///   p = S sigmoid(vᵀ tanh(W q)),   weight_s = softmax over |s - p| <= D of score_s, times exp(-(s - p)² / (2 (D/2)²)).
class LocalWindowImpl : public torch::nn::Module {
 public:
  /// query features, size of the hidden layer, D.
  LocalWindowImpl(int64_t query, int64_t inner, int64_t window);
  /// query [batch, target, query], scores [batch, target, source], lengths int64 [batch] on the CPU -> weights float32.
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& scores, const torch::Tensor& lengths);

 private:
  double window_;
  Linear hidden_, centre_;  // W; v
};
TORCH_MODULE(LocalWindow);

}  // namespace nmt
