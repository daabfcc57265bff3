#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "nn/decode/layer_cache.h"
#include "nn/ops/activation.h"
#include "nn/ops/forward_context.h"
#include "nn/ops/initial_values.h"
#include "nn/ops/linear.h"
#include "nn/ops/packed_matrix.h"

namespace nmt {

/// A module whose forward pass has a loss of its own that is to be minimised, too, such as the balance of the experts'
/// load in a mixture of experts (Fedus et al. 2022, eq. 4).
class AuxiliaryLoss {
 public:
  virtual ~AuxiliaryLoss() = default;
  /// That of the last forward pass in training, weighted: a float32 scalar with gradient, a mean over tokens; undefined
  /// where there was none. It is given once.
  virtual torch::Tensor take_auxiliary_loss() = 0;
};

/// The sum of the losses of those modules that have one, in their order; undefined: none has.
torch::Tensor take_auxiliary_losses(const std::vector<std::shared_ptr<torch::nn::Module>>& modules);

struct FeedForwardOptions {
  int64_t model = 512, inner = 2048;  ///< features outside and inside
  Activation activation = Activation::kRelu;
  bool gated = false;
  double dropout = 0;  ///< of the inner features
};

/// The last sub-layer of a Transformer's block, a function of each position alone: DenseFeedForward, or what stands in
/// its place, such as a mixture of experts. One that has a loss of its own is an AuxiliaryLoss, too.
class FeedForward : public torch::nn::Module, public HasInitialValues {
 public:
  /// x [..., model], in training and in the steps of a search. residual: of x's shape, added to the result; undefined:
  /// nothing. Returns x's shape. While gradients are off, float32 on the CPU: a position's result does not depend on
  /// the others.
  virtual torch::Tensor forward(const torch::Tensor& x, ForwardContext& pass, const torch::Tensor& residual) = 0;
  /// The net for searches without LibTorch. Throws inference::Unsupported.
  virtual inference::FeedForwardWeights inference_weights() {
    throw inference::Unsupported("a feed-forward net of another kind");
  }
  /// What it can do in a search. No static positions where its work depends on what x holds: a GPU cannot record that.
  virtual DecodingCapabilities capabilities() const {
    return {.ragged_positions = true, .exact_prefill = true, .static_positions = std::numeric_limits<int64_t>::max()};
  }
};

using FeedForwardMaker = std::function<std::shared_ptr<FeedForward>(const FeedForwardOptions& options)>;

/// outer(relu_dropout(inner(x))) [..., out] for maps with biases that has_training_kernel() takes, with all gradients;
/// key is that of the dropout. ReLU and dropout, and their gradients, are done on rows of the hidden layer while they
/// lie in the cache, and of the hidden layer one tensor is kept. The same bits as those operations one by one.
torch::Tensor multiply_feed_forward(const torch::Tensor& x, const AffineMap& inner, const AffineMap& outer, double p,
                                    uint64_t key);

/// Position-wise feed-forward net (Vaswani et al. 2017, sec. 3.3): W2 dropout(activation(W1 x + b1)) + b2; gated
/// (Shazeer 2020, eq. 6): W2 dropout(activation(W1 x + b1) * (W3 x + b3)) + b2.
class DenseFeedForward final : public FeedForward {
 public:
  explicit DenseFeedForward(const FeedForwardOptions& options);
  torch::Tensor forward(const torch::Tensor& x, ForwardContext& pass, const torch::Tensor& residual) override;
  inference::FeedForwardWeights inference_weights() override {
    return {.inner = inner_->inference_map(),
            .gate = gated_ ? std::optional(gated_->inference_map()) : std::nullopt,
            .outer = outer_->inference_map(),
            .activation = options_.activation};
  }
  InitialValues initial_values_below(const torch::nn::Module& /*submodule*/,
                                     const InitialValues& values) const override {
    return values.scaled(values.branch_gain);
  }

 private:
  FeedForwardOptions options_;
  Linear inner_{nullptr}, gated_{nullptr}, outer_{nullptr};  // W1, W3 (or null), W2
};

}  // namespace nmt
