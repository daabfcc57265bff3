#pragma once

#include "nn/scores/cosine.h"

namespace nmt {

/// A score of attention: beta times the cosine of query and key, beta trained.
class ScaledCosineScore final : public AttentionScore {
 public:
  explicit ScaledCosineScore(const AttentionScoreOptions& options) : cosine_(options) {
    beta_ = register_parameter("beta", torch::ones({1, 1}));
  }
  torch::Tensor prepare(const torch::Tensor& keys) override { return cosine_.prepare(keys); }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return cosine_.forward(query, prepared) * beta_.to(query.scalar_type());
  }

 private:
  CosineScore cosine_;
  torch::Tensor beta_;
};

}  // namespace nmt
