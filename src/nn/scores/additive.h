#pragma once

#include "nn/ops/linear.h"
#include "nn/scores/attention_score.h"

namespace nmt {

/// vᵀ tanh(W q + U k + b) (Bahdanau et al. 2015, A.1.2). With coverage, the attention c that a key has had in earlier
/// steps enters: vᵀ tanh(W q + U k + c u + b) (See et al. 2017, eq. 11).
class AdditiveScore final : public AttentionScore {
 public:
  explicit AdditiveScore(const AttentionScoreOptions& options);

  void reset_parameters(const InitialValues& values, at::Generator& generator) override;
  torch::Tensor prepare(const torch::Tensor& keys) override { return key_(keys); }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return forward(query, prepared, torch::Tensor());
  }
  /// coverage float32 [batch, target, source], the sum of earlier weights; undefined: none.
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared, const torch::Tensor& coverage);

 private:
  Linear query_, key_;
  torch::Tensor v_, u_;  // [1, inner]
};

/// sum_i v_i tanh(query_i + key_i + coverage u_i): queries [batch, target, inner], keys [batch, source, inner]; v and u
/// float32 with inner elements; coverage and u may be undefined. Returns [batch, target, source] in the queries' type.
torch::Tensor additive_scores(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& v,
                              const torch::Tensor& coverage, const torch::Tensor& u);

/// The same by plain tensor operations: any device; what the kernel is tested against.
torch::Tensor plain_additive_scores(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& v,
                                    const torch::Tensor& coverage, const torch::Tensor& u);

}  // namespace nmt
