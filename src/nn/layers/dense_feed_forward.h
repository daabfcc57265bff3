#pragma once

#include "nn/layers/feed_forward.h"
#include "nn/ops/linear.h"

namespace nmt {

/// Position-wise feed-forward net (Vaswani et al. 2017, sec. 3.3): W2 dropout(activation(W1 x + b1)) + b2; gated
/// (Shazeer 2020, eq. 6): W2 dropout(activation(W1 x + b1) * (W3 x + b3)) + b2.
class DenseFeedForward final : public FeedForward {
 public:
  explicit DenseFeedForward(const FeedForwardOptions& options);
  torch::Tensor forward(const torch::Tensor& x, ForwardContext& pass, const torch::Tensor& residual) override;
  InitialValues initial_values_below(const torch::nn::Module& /*submodule*/,
                                     const InitialValues& values) const override {
    return values.scaled(values.branch_gain);
  }

 private:
  FeedForwardOptions options_;
  Linear inner_{nullptr}, gated_{nullptr}, outer_{nullptr};  // W1, W3 (or null), W2
};

}  // namespace nmt
