#pragma once

#include <ATen/ops/softplus.h>

#include "nn/positions/positions.h"
#include "nn/positions/relative_positions.h"

namespace nmt {

/// Relative positions: score_ij = q_i · k_j / sqrt(head_dim) - r1 ln(1 + r2 |i - j|), r1 and r2 trained and positive,
/// one pair a head (Chi et al. 2022, eq. 4).
class KerplePositions final : public HeadScores {
 public:
  explicit KerplePositions(const PositionOptions& options) : HeadScores("positions") {
    weight_ = register_parameter("weight", torch::empty({2, options.heads}));
  }

  void reset_parameters(const InitialValues& values, at::Generator& generator) override {
    values.positions.draw(weight_, generator);
  }

  torch::Tensor scores(const torch::Tensor& q, const torch::Tensor& k, int64_t first_query) override {
    const auto apart = distances(first_query, q.size(2), k.size(2), q.device()).abs();
    const auto r = at::softplus(weight_).view({2, -1, 1, 1});  // [2, heads, 1, 1]
    const auto bias = r[0] * (1 + r[1] * apart).log();         // [heads, target, source]
    return head_products(q, k, attention_scale(q)) - bias.to(q.scalar_type());
  }

 private:
  torch::Tensor weight_;
};

}  // namespace nmt
