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

}  // namespace nmt
