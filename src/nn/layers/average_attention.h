#pragma once

#include "nn/decode/layer_cache.h"
#include "nn/layers/feed_forward.h"
#include "nn/ops/linear.h"

namespace nmt {

/// Average attention (Zhang et al. 2018, "Accelerating Neural Transformer via an Average Attention Network"): the mean
/// of all positions up to this one through a feed-forward net, g, and a gate between it and the input y:
///   [i; f] = sigmoid(W [y; g] + b),   i * y + f * g
/// A step costs the same at every position.
class AverageAttention final : public Mixer {
 public:
  explicit AverageAttention(const FeedForwardOptions& options);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& lengths, ForwardContext& pass) override;
  torch::Tensor step(const torch::Tensor& x, LayerCache& cache, const RowPositions& positions,
                     const torch::Tensor& residual) override;
  inference::MixerWeights inference_weights() override {
    return inference::AverageWeights{.feed_forward = feed_forward_->inference_weights(),
                                     .gate = gate_->inference_map()};
  }

 private:
  /// x and means of one shape [..., model], means in float32.
  torch::Tensor gate(const torch::Tensor& x, const torch::Tensor& means, ForwardContext& pass);

  std::shared_ptr<DenseFeedForward> feed_forward_;
  Linear gate_{nullptr};
};

}  // namespace nmt
