#pragma once

#include <torch/types.h>

#include <mutex>

#include "config/kinds.h"

namespace nmt {

/// Rows `first` .. `first + count - 1` of the sinusoid table, [count, features] float32, positions from 0, computed in
/// double. `first` may be negative: distances have signs.
torch::Tensor sinusoid_table(int64_t first, int64_t count, int64_t features, Sinusoid variant);

/// Rows of a sinusoid table that is kept and grows with what is asked for. Thread-safe.
class SinusoidRows {
 public:
  SinusoidRows(int64_t features, Sinusoid variant) : features_(features), variant_(variant) {}
  torch::Tensor rows(int64_t first, int64_t count);  ///< as sinusoid_table()

 private:
  int64_t features_, first_ = 0;
  Sinusoid variant_;
  std::mutex mutex_;
  torch::Tensor table_;  // rows first_ .. first_ + size - 1
};

}  // namespace nmt
