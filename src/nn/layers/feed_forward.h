#pragma once

#include <torch/nn/module.h>

#include "nn/ops/activation.h"
#include "nn/ops/forward_context.h"
#include "nn/ops/initial_values.h"
#include "nn/ops/linear.h"

namespace nmt {

/// Position-wise feed-forward net (Vaswani et al. 2017, sec. 3.3): W2 dropout(activation(W1 x + b1)) + b2; gated
/// (Shazeer 2020, eq. 6): W2 dropout(activation(W1 x + b1) * (W3 x + b3)) + b2. x [..., model].
class FeedForwardImpl : public torch::nn::Module, public HasInitialValues {
 public:
  struct Options {
    int64_t model = 512, inner = 2048;
    Activation activation = Activation::kRelu;
    bool gated = false;
    double dropout = 0;
  };
  explicit FeedForwardImpl(const Options& options);
  /// residual: of x's shape, added to the result; undefined: nothing.
  torch::Tensor forward(const torch::Tensor& x, ForwardContext& pass, const torch::Tensor& residual = {});
  InitialValues initial_values_below(const torch::nn::Module& /*submodule*/,
                                     const InitialValues& values) const override {
    return values.scaled(values.branch_gain);
  }

 private:
  Options options_;
  Linear inner_{nullptr}, gated_{nullptr}, outer_{nullptr};  // W1, W3 (or null), W2
};
TORCH_MODULE(FeedForward);

}  // namespace nmt
