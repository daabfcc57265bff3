#pragma once

#include <torch/types.h>

#include "nn/step_history.h"

namespace nmt {

/// Keys and values of positions that later steps look at.
struct KeyValues {
  torch::Tensor keys, values;  ///< [batch, time, key_value_heads * head_dim]
};

/// The same for steps whose tensors stay where they are, see MixerState::fixed.
struct FixedKeyValues {
  torch::Tensor keys, values;  ///< [rows, key_value_heads, room, head_dim]
  torch::Tensor visible;       ///< bool [room], or [rows, 1, 1, room]: what may be looked at
};

/// A decoding step by plain tensor operations on any device: q [rows, query heads * head_dim] looks at what is visible.
/// Returns q's shape.
torch::Tensor attention_step(const torch::Tensor& q, const FixedKeyValues& memory);

/// Query heads, and the heads of keys and values that groups of them share.
struct HeadCounts {
  int64_t query = 8, key_value = 8;
};

/// A decoding step of self-attention on the CPU: qkv float32 [rows, (query + 2 * key_value) heads * head_dim] holds
/// queries, keys and values of the new position side by side; keys and values join the history in `type`, float32 or
/// bfloat16. Each hypothesis looks at itself and all its past. Returns [rows, query heads * head_dim]. No row's result
/// depends on another.
torch::Tensor attention_step(const torch::Tensor& qkv, StepHistory& history, HeadCounts heads, at::ScalarType type);

/// A decoding step of attention to what stays: q float32 [rows, query heads * head_dim] on the CPU, memory of
/// [memories, positions, features], float32 or bfloat16, as two slices of one tensor; row r looks at the first
/// lengths[m] positions of memory m = memory_of_row[r]. memory_of_row int64 [rows] and lengths int64 [memories], at
/// least 1, on the CPU. Returns q's shape; no row's result depends on another.
torch::Tensor attention_step(const torch::Tensor& q, const KeyValues& memory, HeadCounts heads,
                             const torch::Tensor& memory_of_row, const torch::Tensor& lengths);

}  // namespace nmt
