#pragma once

#include <torch/types.h>

#include "nn/attention/head_scores.h"

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

}  // namespace nmt
