#pragma once

#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace nmt {

/// Where the tokens of a decoding step stand in their translations: the position of the first one of each row. Rows
/// differ where sentences have joined a search that was under way (ragged positions).
class RowPositions {
 public:
  RowPositions(int64_t common) : common_(common) {}  // NOLINT: most steps have one position for all rows
  explicit RowPositions(std::vector<int64_t> of_rows) : of_rows_(std::move(of_rows)) {
    if (!of_rows_.empty()) common_ = of_rows_.front();
    if (std::ranges::all_of(of_rows_, [&](int64_t position) { return position == common_; })) of_rows_.clear();
  }

  bool are_equal() const { return of_rows_.empty(); }
  /// The position of all rows, which must be equal.
  int64_t common() const {
    TORCH_CHECK(are_equal(), "a step whose rows stand at different positions");
    return common_;
  }
  /// int64 [rows] on the CPU.
  torch::Tensor tensor(int64_t rows) const {
    return are_equal() ? torch::full({rows}, common_, torch::kInt64) : torch::tensor(of_rows_, torch::kInt64);
  }

  /// Neighbours that stand at one position.
  struct Run {
    int64_t first_row = 0, rows = 0, position = 0;
  };
  std::vector<Run> runs(int64_t rows) const {
    if (are_equal()) return {{0, rows, common_}};
    std::vector<Run> runs;
    for (int64_t row = 0; row < rows; ++row) {
      if (runs.empty() || runs.back().position != of_rows_[row]) runs.push_back({row, 0, of_rows_[row]});
      ++runs.back().rows;
    }
    return runs;
  }

 private:
  int64_t common_ = 0;
  std::vector<int64_t> of_rows_;  // empty: all at common_
};

}  // namespace nmt
