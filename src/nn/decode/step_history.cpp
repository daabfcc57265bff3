#include "nn/decode/step_history.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nmt {

void StepHistory::push(torch::Tensor step) {
  const int64_t row_bytes = step.size(1) * static_cast<int64_t>(step.element_size());
  TORCH_CHECK(steps_.empty() || (step.size(0) == rows_ && row_bytes == row_bytes_), "a step of other hypotheses");
  if (steps_.empty()) {
    rows_ = step.size(0);
    row_bytes_ = row_bytes;
    first_step_.assign(rows_, 0);
  }
  if (steps() == room_) widen();
  for (int64_t r = 0; r < rows_; ++r) row_of_step_[r * room_ + steps()] = static_cast<int32_t>(r);
  const auto* data = static_cast<const std::byte*>(step.const_data_ptr());
  steps_.push_back({.rows = std::move(step), .data = data});
}

void StepHistory::widen() {
  const int64_t room = std::max<int64_t>(32, 2 * room_);
  std::vector<int32_t> wider(rows_ * room);
  for (int64_t r = 0; r < rows_; ++r) std::copy_n(row_of_step_.begin() + r * room_, room_, wider.begin() + r * room);
  row_of_step_ = std::move(wider);
  room_ = room;
}

void StepHistory::add_rows(int64_t count) {
  if (steps_.empty()) return;
  rows_ += count;
  first_step_.resize(rows_, steps());
  row_of_step_.resize(rows_ * room_);
}

void StepHistory::select(const torch::Tensor& rows) {
  if (steps_.empty()) return;
  const int64_t* parents = rows.const_data_ptr<int64_t>();
  rows_ = rows.size(0);
  std::vector<int64_t> first_step(rows_);
  for (int64_t r = 0; r < rows_; ++r) first_step[r] = first_step_[parents[r]];
  // Steps before the first of them all are nobody's.
  const int64_t dropped = rows_ > 0 ? *std::ranges::min_element(first_step) : steps();
  std::vector<int32_t> selected(rows_ * room_);
  for (int64_t r = 0; r < rows_; ++r) {
    const auto old = row_of_step_.begin() + parents[r] * room_;
    std::copy(old + dropped, old + steps(), selected.begin() + r * room_);
    first_step[r] -= dropped;
  }
  steps_.erase(steps_.begin(), steps_.begin() + dropped);
  first_step_ = std::move(first_step);
  row_of_step_ = std::move(selected);
  // A few steps back the hypotheses of a sentence have one past: every step is looked at now and then.
  constexpr int64_t kPeriod = 3;
  for (int64_t step = steps() - kPeriod; step >= 0; step -= kPeriod) compact(step);
}

void StepHistory::compact(int64_t step) {
  const int64_t stored = steps_[step].rows.size(0);
  std::vector<int32_t> place(stored, -1);
  std::vector<const void*> used;
  const auto owned = [&](int64_t row) { return first_step_[row] <= step; };
  for (int64_t r = 0; r < rows_; ++r) {
    if (!owned(r)) continue;
    auto& of_row = place[row_of_step_[r * room_ + step]];
    if (of_row >= 0) continue;
    of_row = static_cast<int32_t>(used.size());
    used.push_back(at(r, step - first_step_[r]));
  }
  if (2 * std::ssize(used) > stored) return;
  auto rows = torch::empty({std::ssize(used), steps_[step].rows.size(1)}, steps_[step].rows.options());
  auto* data = static_cast<std::byte*>(rows.mutable_data_ptr());
  for (size_t i = 0; i < used.size(); ++i) std::memcpy(data + i * row_bytes_, used[i], row_bytes_);
  for (int64_t r = 0; r < rows_; ++r) {
    auto& row = row_of_step_[r * room_ + step];
    if (owned(r)) row = place[row];
  }
  steps_[step] = {.rows = std::move(rows), .data = data};
}

}  // namespace nmt
