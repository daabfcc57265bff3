#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "nn/decode/decoding_capabilities.h"
#include "nn/ops/activation.h"
#include "nn/ops/forward_context.h"
#include "nn/ops/initial_values.h"

namespace nmt {

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
  /// What it can do in a search. No static positions where its work depends on what x holds: a GPU cannot record that.
  virtual DecodingCapabilities capabilities() const {
    return {.ragged_positions = true, .exact_prefill = true, .static_positions = std::numeric_limits<int64_t>::max()};
  }
};

using FeedForwardMaker = std::function<std::shared_ptr<FeedForward>(const FeedForwardOptions& options)>;

}  // namespace nmt
