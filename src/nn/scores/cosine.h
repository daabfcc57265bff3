#pragma once

#include "nn/ops/score_products.h"
#include "nn/scores/attention_score.h"

namespace nmt {

/// qᵀk / (|q| |k|), of queries and keys of one size: the cosine of their angle (Graves et al. 2014).
class CosineScore final : public AttentionScore {
 public:
  explicit CosineScore(const AttentionScoreOptions& options) { require_equal_sizes("cosine", options); }
  torch::Tensor prepare(const torch::Tensor& keys) override { return unit(keys); }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return dot_scores(unit(query), prepared);
  }

 private:
  // Of length 1; a zero vector, such as padding, has score 0.
  static torch::Tensor unit(const torch::Tensor& x) {
    return x * (x.to(torch::kFloat32).square().sum(-1, /*keepdim=*/true) + 1e-12).rsqrt().to(x.scalar_type());
  }
};

}  // namespace nmt
