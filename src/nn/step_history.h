#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace nmt {

/// What the steps of a search left, a row for each hypothesis of that step. Hypotheses are reordered, repeated and
/// dropped from step to step; what they left stays where it is, and each one remembers its rows.
class StepHistory {
 public:
  int64_t steps() const { return static_cast<int64_t>(steps_.size()); }
  /// What the newest step leaves: float32 [rows, features], contiguous, on the CPU; kept, not copied.
  void push(torch::Tensor step);
  /// New row r continues old row rows[r]: int64 [new rows] on the CPU.
  void select(const torch::Tensor& rows);
  /// Where the present hypothesis `row` left its features at a step.
  const float* at(int64_t row, int64_t step) const {
    return data_[step] + row_of_step_[row * room_ + step] * features_;
  }

 private:
  std::vector<torch::Tensor> steps_;
  std::vector<const float*> data_;
  std::vector<int32_t> row_of_step_;  // [rows, room_]
  int64_t rows_ = 0, room_ = 0, features_ = 0;
};

}  // namespace nmt
