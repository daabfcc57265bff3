#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <span>

#include "search/rules/row_rules.h"

namespace nmt {

/// The logits of a step, for rules to change.
class RowLogits {
 public:
  /// logits: float32 [rows, columns]. columns: the token of each column, ascending (a shortlist), or none: column i is
  /// token i. Borrows all.
  RowLogits(torch::Tensor& logits, std::span<const RowRules> rows, std::span<const int32_t> columns = {})
      : logits_(logits), rows_(rows), columns_(columns) {}

  std::span<const RowRules> rows() const { return rows_; }
  /// Whether the token has a logit: a shortlist leaves tokens out.
  bool has(int32_t token) const;

  struct Place {
    int64_t row = 0;
    int32_t token = 0;
  };
  /// Replaces the logits at these places, each named once: change() gets all of them, float32 [n] on the model's
  /// device, and returns as many.
  void update(std::span<const Place> places, const std::function<torch::Tensor(const torch::Tensor&)>& change);

 private:
  int64_t column(int32_t token) const;

  torch::Tensor& logits_;
  std::span<const RowRules> rows_;
  std::span<const int32_t> columns_;
};

}  // namespace nmt
