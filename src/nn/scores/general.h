#pragma once

#include "nn/ops/linear.h"
#include "nn/ops/score_products.h"
#include "nn/scores/attention_score.h"

namespace nmt {

/// qᵀ W k: bilinear (Luong et al. 2015, "general"). Sizes may differ.
class GeneralScore final : public AttentionScore {
 public:
  explicit GeneralScore(const AttentionScoreOptions& options)
      : key_(register_module("key", Linear(options.key, options.query, LinearImpl::Bias::kNo))) {}
  torch::Tensor prepare(const torch::Tensor& keys) override { return key_(keys); }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return dot_scores(query, prepared);
  }

 private:
  Linear key_;  // W
};

}  // namespace nmt
