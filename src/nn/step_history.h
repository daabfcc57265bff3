#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nmt {

/// What the steps of a search left, a row for each hypothesis of that step. Hypotheses are reordered, repeated and
/// dropped from step to step; what they left stays where it is, and each one remembers its rows. Once most rows of a
/// step belong to no hypothesis any more, the others are copied out and its memory is given back.
class StepHistory {
 public:
  int64_t steps() const { return static_cast<int64_t>(steps_.size()); }
  /// What the newest step leaves: [rows, features] of any type, contiguous, on the CPU; not copied.
  void push(torch::Tensor step);
  /// New row r continues old row rows[r]: int64 [new rows] on the CPU.
  void select(const torch::Tensor& rows);
  /// Where the present hypothesis `row` left its features at a step.
  const void* at(int64_t row, int64_t step) const {
    return steps_[step].data + row_of_step_[row * room_ + step] * row_bytes_;
  }

 private:
  struct Step {
    torch::Tensor rows;
    const std::byte* data = nullptr;
  };
  void compact(int64_t step);

  std::vector<Step> steps_;
  std::vector<int32_t> row_of_step_;  // [rows, room_]
  int64_t rows_ = 0, room_ = 0, row_bytes_ = 0;
};

}  // namespace nmt
