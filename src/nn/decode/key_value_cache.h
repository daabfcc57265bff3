#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <span>

#include "nn/attention/head_scores.h"
#include "nn/decode/attention_step.h"
#include "nn/decode/layer_cache.h"

namespace nmt {

/// How the queries of an attention layer meet its keys and values.
struct AttentionForm {
  HeadCounts heads;
  bool softmax = true;                           ///< false: the scores themselves are the weights
  std::shared_ptr<HeadScores> scores = nullptr;  ///< null: Q Kᵀ / sqrt(head_dim)
  at::ScalarType kept_type = torch::kFloat32;    ///< of what the CPU form keeps: float32 or bfloat16

  /// Whether the kernels of decoding compute it.
  bool fits_kernel() const { return softmax && !scores; }
};

/// The keys and values of a layer of causal self-attention (key-value cache).
class KeyValueCache : public LayerCache {
 public:
  /// Adds n positions to each row: [rows, n, 2 * key_value heads * head_dim], keys and values side by side.
  virtual void append(const torch::Tensor& keys_and_values) = 0;
  /// The queries of the n newest positions, [rows, n, query heads * head_dim], each of which sees its own position and
  /// those before it. Returns the context, of q's shape.
  virtual torch::Tensor attend(const torch::Tensor& q) = 0;
};

/// The keys and values of encoder outputs, for a layer of cross-attention. The rows of a sentence share them.
class SourceCache {
 public:
  virtual ~SourceCache() = default;
  /// q [rows, n, query heads * head_dim]; row r looks at the sentence that places[r] names. Returns q's shape.
  virtual torch::Tensor attend(const torch::Tensor& q, std::span<const SourcePlace> places) = 0;
  /// Where rows may stand at different positions: adds the groups of another cache of the same layer.
  virtual void join(SourceCache& other);
  /// Keeps these groups, ascending, and forgets the others.
  virtual void keep(std::span<const int64_t> groups);
};
}  // namespace nmt
