#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nn/attention/attention.h"

namespace nmt {

/// What the steps of a search left, a row for each hypothesis of that step. Hypotheses are reordered, repeated and
/// dropped from step to step; what they left stays where it is, and each one remembers its rows. Once most rows of a
/// step belong to no hypothesis any more, the others are copied out and its memory is given back.
class StepHistory {
 public:
  /// What the newest step leaves: [rows, features] of any type, contiguous, on the CPU; not copied.
  void push(torch::Tensor step);
  /// New row r continues old row rows[r]: int64 [new rows] on the CPU.
  void select(const torch::Tensor& rows);
  /// Adds the rows of another history behind its own ones. Both counts of rows are given: a history without steps does
  /// not know its own.
  void join(const StepHistory& other, int64_t own_rows, int64_t other_rows);
  /// How many steps the present hypothesis `row` has made, and where it left its features at one of them.
  int64_t length(int64_t row) const { return steps() - first_step_[row]; }
  const void* at(int64_t row, int64_t step) const {
    const int64_t place = first_step_[row] + step;
    return steps_[place].data + row_of_step_[row * room_ + place] * row_bytes_;
  }
  size_t element_size() const { return steps_.back().rows.element_size(); }

 private:
  struct Step {
    torch::Tensor rows;
    const std::byte* data = nullptr;
  };
  int64_t steps() const { return static_cast<int64_t>(steps_.size()); }
  void widen();
  void put_steps_before(int64_t count);
  void compact(int64_t step);

  std::vector<Step> steps_;           // from the first step of the oldest hypothesis on
  std::vector<int64_t> first_step_;   // [rows]
  std::vector<int32_t> row_of_step_;  // [rows, room_], what stands before the row's first step means nothing
  int64_t rows_ = 0, room_ = 0, row_bytes_ = 0;
};

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
