#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

#include "nn/decode/step_history.h"

namespace nmt {

/// Keys and values that queries meet.
struct KeyValues {
  torch::Tensor keys, values;  ///< [batch, time, key_value heads * head_dim]
};

/// The same in tensors that stay where they are: CacheForm::kStatic.
struct StaticKeyValues {
  torch::Tensor keys, values;  ///< [rows, key_value heads, capacity, head_dim]
  torch::Tensor visible;       ///< bool [capacity], or [rows, 1, 1, capacity]: what may be looked at
};

/// A decoding step by plain tensor operations on any device: q [rows, 1, query heads * head_dim] looks at what is
/// visible. Returns q's shape.
torch::Tensor attention_step(const torch::Tensor& q, const StaticKeyValues& kv);

/// Query heads, and the heads of keys and values that groups of them share.
struct HeadCounts {
  int64_t query = 8, key_value = 8;
};

/// Each head of keys or values [batch, time, key_value heads * head_dim] once for each query head that looks at it.
torch::Tensor repeat_heads(const torch::Tensor& x, HeadCounts heads);

/// A decoding step of self-attention on the CPU. The n newest steps of the history are those of the queries, float32
/// [rows, n, query heads * head_dim]: slices of a contiguous tensor will do. What a step left are keys and values side
/// by side, float32 or bfloat16. Each query sees its own step and the past of its row. Returns [rows, n, query heads *
/// head_dim]; no query's result depends on another.
torch::Tensor attention_step(const torch::Tensor& q, const StepHistory& history, HeadCounts heads);

/// Where a row finds the encoder output of its sentence.
struct SourcePlace {
  int64_t group = 0;   ///< among the groups of sentences that started together
  int64_t index = 0;   ///< of the sentence in its group
  int64_t length = 1;  ///< positions that it has, at least 1
};

/// A decoding step of cross-attention: q float32 [rows, n, query heads * head_dim] on the CPU; groups each of
/// [sentences, time, features], float32 or bfloat16, as two slices of one tensor; a place for each row. Returns q's
/// shape; no query's result depends on another.
torch::Tensor attention_step(const torch::Tensor& q, std::span<const KeyValues> groups, HeadCounts heads,
                             std::span<const SourcePlace> places);

}  // namespace nmt
