#pragma once

#include "nn/positions/table_positions.h"

namespace nmt {

/// Absolute positions: x_t + alpha s_t, s_t the sinusoids of t, alpha trained (Li et al. 2019, "Neural Speech Synthesis
/// with Transformer Network", eq. 4).
class ScaledSinusoids final : public TablePositions {
 public:
  explicit ScaledSinusoids(const PositionOptions& options) : sinusoids_(options.model, Sinusoid::kInterleaved) {
    alpha_ = register_parameter("alpha", torch::ones({1}));
  }

 private:
  torch::Tensor rows(int64_t first, int64_t count) override { return sinusoids_.rows(first, count); }
  torch::Tensor combine(const torch::Tensor& x, const torch::Tensor& vectors) const override {
    return x + alpha_ * vectors;
  }

  SinusoidRows sinusoids_;
  torch::Tensor alpha_;
};

}  // namespace nmt
