#pragma once

#include "nn/decode/layer_cache.h"
#include "nn/ops/linear.h"

namespace nmt {

/// Simpler simple recurrent unit (Kim et al. 2019, "From Research to Production and Back", eq. 5 and 6), c_{-1} = 0:
///   f_t = sigmoid(W_f x_t + b_f),   c_t = f_t * c_{t-1} + (1 - f_t) * W x_t,   result max(0, c_t)
/// The products are over the whole sequence, only elements go step by step.
class Ssru final : public Mixer {
 public:
  explicit Ssru(int64_t model);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& lengths, ForwardContext& pass) override;
  torch::Tensor step(const torch::Tensor& x, LayerCache& cache, const RowPositions& positions,
                     const torch::Tensor& residual) override;
  inference::MixerWeights inference_weights() override {
    return inference::SsruWeights{.forget = forget_->inference_map(), .input = input_->inference_map()};
  }

 private:
  Linear forget_{nullptr}, input_{nullptr};
};

/// c_t = f_t * c_{t-1} + (1 - f_t) * z_t along axis 1, c_{-1} = 0; f and z [batch, time, model] float32.
torch::Tensor gated_recurrence(const torch::Tensor& f, const torch::Tensor& z);

}  // namespace nmt
