#pragma once

#include <torch/types.h>

#include <span>
#include <vector>

namespace nmt {

/// x [..., sum of sizes] in parts of so many columns, as views. Where the gradients of the parts lie side by side in
/// one tensor (new_columns()), that tensor is the gradient of x, and nothing is copied.
std::vector<torch::Tensor> split_columns(const torch::Tensor& x, const std::vector<int64_t>& sizes);

/// New tensors of the sizes and types of `parts`, not initialised: side by side in one tensor where the parts lie so,
/// else each of its own and contiguous.
std::vector<torch::Tensor> new_columns(const std::vector<torch::Tensor>& parts);

}  // namespace nmt
