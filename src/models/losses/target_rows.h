#pragma once

#include "models/interface/model.h"

namespace nmt {

/// Rows of hidden states that count, and their labels. The output layer need not see padding.
struct TargetRows {
  torch::Tensor hidden;  ///< [rows, model]
  torch::Tensor labels;  ///< int64 [rows]; -1: the row fills up
};

/// The rows `real` (int64 [tokens]) of hidden [all rows, model] and labels [all rows], in that order, filled up to a
/// multiple of 256: every new number of rows would cost the product's engine new code.
TargetRows chosen_rows(const torch::Tensor& hidden, const torch::Tensor& labels, const torch::Tensor& real);

/// The real target tokens of a batch. hidden: [batch, target, model].
TargetRows target_rows(const torch::Tensor& hidden, const TensorBatch& batch);

}  // namespace nmt
