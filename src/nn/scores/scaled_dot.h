#pragma once

#include <cmath>

#include "nn/ops/score_products.h"
#include "nn/scores/attention_score.h"

namespace nmt {

/// qᵀk / sqrt(size), of queries and keys of one size (Vaswani et al. 2017, eq. 1).
class ScaledDotScore final : public AttentionScore {
 public:
  explicit ScaledDotScore(const AttentionScoreOptions& options)
      : scale_(1.0 / std::sqrt(static_cast<double>(options.key))) {
    require_equal_sizes("scaled_dot", options);
  }
  torch::Tensor prepare(const torch::Tensor& keys) override { return keys; }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return dot_scores(query * scale_, prepared);
  }

 private:
  double scale_;
};

}  // namespace nmt
