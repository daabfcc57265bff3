#pragma once

#include <cmath>

#include "nn/scores/cosine.h"

namespace nmt {

/// beta qᵀk / (|q| |k|), of queries and keys of one size, with a trained sharpness beta: the cosine alone is at most 1,
/// and its softmax hardly tells keys apart (Graves et al. 2014, eq. 5, whose beta is the controller's; Henry et al.
/// 2020). beta starts at sqrt(size), so that the score is scaled_dot of vectors whose features have mean square 1.
class ScaledCosineScore final : public AttentionScore {
 public:
  explicit ScaledCosineScore(const AttentionScoreOptions& options) : cosine_(options) {
    beta_ = register_parameter("beta", torch::full({1}, std::sqrt(static_cast<double>(options.key)), torch::kFloat32));
  }
  torch::Tensor prepare(const torch::Tensor& keys) override { return cosine_.prepare(keys); }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return cosine_.forward(query, prepared) * beta_.to(query.scalar_type());
  }

 private:
  CosineScore cosine_;
  torch::Tensor beta_;  // [1]
};

}  // namespace nmt
