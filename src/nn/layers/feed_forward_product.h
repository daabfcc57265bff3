#pragma once

#include <torch/types.h>

#include <cstdint>

#include "nn/ops/packed_matrix.h"

namespace nmt {

/// outer(relu_dropout(inner(x))) [..., out] for maps with biases that has_training_kernel() takes, with all gradients;
/// key is that of the dropout. ReLU and dropout, and their gradients, are done on rows of the hidden layer while they
/// lie in the cache, and of the hidden layer one tensor is kept. The same bits as those operations one by one.
torch::Tensor multiply_feed_forward(const torch::Tensor& x, const AffineMap& inner, const AffineMap& outer, double p,
                                    uint64_t key);

}  // namespace nmt
