#pragma once

#include "nn/ops/score_products.h"
#include "nn/scores/attention_score.h"

namespace nmt {

/// qᵀk, of queries and keys of one size (Luong et al. 2015, "dot").
class DotScore final : public AttentionScore {
 public:
  explicit DotScore(const AttentionScoreOptions& options) { require_equal_sizes("dot", options); }
  torch::Tensor prepare(const torch::Tensor& keys) override { return keys; }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return dot_scores(query, prepared);
  }
};

}  // namespace nmt
