#include "nn/step_history.h"

#include <algorithm>

namespace nmt {

void StepHistory::push(torch::Tensor step) {
  TORCH_CHECK(steps_.empty() || (step.size(0) == rows_ && step.size(1) == features_), "a step of other hypotheses");
  rows_ = step.size(0);
  features_ = step.size(1);
  if (steps() == room_) {
    const int64_t room = std::max<int64_t>(32, 2 * room_);
    std::vector<int32_t> wider(rows_ * room);
    for (int64_t r = 0; r < rows_; ++r)
      std::copy_n(row_of_step_.begin() + r * room_, room_, wider.begin() + r * room);
    row_of_step_ = std::move(wider);
    room_ = room;
  }
  for (int64_t r = 0; r < rows_; ++r) row_of_step_[r * room_ + steps()] = static_cast<int32_t>(r);
  data_.push_back(step.const_data_ptr<float>());
  steps_.push_back(std::move(step));
}

void StepHistory::select(const torch::Tensor& rows) {
  if (steps_.empty()) return;
  const int64_t* parents = rows.const_data_ptr<int64_t>();
  rows_ = rows.size(0);
  std::vector<int32_t> selected(rows_ * room_);
  for (int64_t r = 0; r < rows_; ++r)
    std::copy_n(row_of_step_.begin() + parents[r] * room_, steps(), selected.begin() + r * room_);
  row_of_step_ = std::move(selected);
}

}  // namespace nmt
