#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

#include "nn/decode/step_history.h"

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

/// Where a row finds the memory of its sentence.
struct MemoryPlace {
  int64_t group = 0;   ///< among the KeyValues
  int64_t index = 0;   ///< in their batch
  int64_t length = 1;  ///< positions that it looks at, at least 1
};

/// A decoding step of attention to what stays: q float32 [rows, query heads * head_dim] on the CPU, memories each of
/// [batch, time, features], float32 or bfloat16, as two slices of one tensor; memory_of_row [rows]. Returns q's shape;
/// no row's result depends on another.
torch::Tensor attention_step(const torch::Tensor& q, std::span<const KeyValues> memories, HeadCounts heads,
                             std::span<const MemoryPlace> memory_of_row);

}  // namespace nmt
