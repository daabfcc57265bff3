#pragma once

#include "nn/attention/head_scores.h"
#include "nn/scores/attention_score.h"

namespace nmt {

/// A score of attention: -beta |q - k|², beta trained. Its softmax weighs keys by a Gaussian of their distance (Tsai et
/// al. 2019).
class GaussianScore final : public AttentionScore {
 public:
  explicit GaussianScore(const AttentionScoreOptions& options) {
    require_equal_sizes("gaussian", options);
    beta_ = register_parameter("beta", torch::ones({1, 1}));
  }
  torch::Tensor prepare(const torch::Tensor& keys) override { return keys; }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    const auto squares = norm(query) + norm(prepared).transpose(1, 2);  // [batch, target, source]
    return (2 * dot_scores(query, prepared) - squares) * beta_.to(query.scalar_type());
  }

 private:
  // |x|²: [batch, positions, 1].
  static torch::Tensor norm(const torch::Tensor& x) { return x.square().sum(-1, /*keepdim=*/true); }

  torch::Tensor beta_;
};

}  // namespace nmt
