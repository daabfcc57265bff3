#pragma once

#include <torch/types.h>

#include "nn/attention/head_scores.h"
#include "nn/ops/forward_context.h"

namespace nmt {

/// What attention may look at, how it scores it, and how its weights are dropped.
struct AttentionOptions {
  int64_t heads = 8;
  double dropout = 0;   ///< of attention weights, in training
  bool causal = false;  ///< row t looks at keys 0..t (target and source are then the same positions)
  /// int64 [batch] on the CPU: rows beyond are padding and get context 0; undefined = none.
  torch::Tensor target_lengths = {};
  /// int64 [batch] on the CPU: keys beyond are padding and get weight 0; undefined = none.
  torch::Tensor source_lengths = {};
  bool softmax = true;           ///< false: the scores themselves are the weights
  HeadScores* scores = nullptr;  ///< null: Q Kᵀ / sqrt(head_dim)
  int64_t first_query = 0;       ///< for `scores`: place of the first query
};

/// Multi-head scaled dot-product attention on ready queries, keys and values (Vaswani et al. 2017, sec. 3.2):
/// softmax(Q Kᵀ / sqrt(head_dim)) V, each head on its slice of the features.
/// q [batch, target, model]; k, v [batch, source, model]; the last axis contiguous, k and v with equal strides (slices
/// of a fused projection are fine). Returns [batch, target, model]. weights, where given, receives the attention
/// weights [batch, heads, target, source] before dropout. By a fused kernel where one fits: softmax of the usual scores,
/// no weights wanted, on the CPU the toolkit's own, on a GPU that of packed_attention.h.
torch::Tensor attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                        const AttentionOptions& options, ForwardContext& pass, torch::Tensor* weights = nullptr);

/// The same by plain tensor operations: any device, type and score; what the fused kernel is tested against.
torch::Tensor plain_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const AttentionOptions& options, ForwardContext& pass, torch::Tensor* weights = nullptr);

}  // namespace nmt
