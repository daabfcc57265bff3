#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <span>

#include "nn/ops/packed_matrix.h"

namespace nmt {

/// Whether the kernels of training take products with x by this weight [out, in]: float32 or bfloat16 on the CPU with
/// gradients asked for, on a processor whose kernels are the fastest; in bfloat16, in and out are even.
bool has_training_kernel(const torch::Tensor& x, const torch::Tensor& weight);

/// The weight [out, in] of one affine map, or of several side by side, in the words of kernels::TrainingKernels::pack
/// or, transposed, of pack_transposed. weights: float32 [out of each, in]; type: of x.
torch::Tensor pack_weights(torch::TensorList weights, torch::ScalarType type);
torch::Tensor pack_transposed_weights(torch::TensorList weights, torch::ScalarType type);

/// y [rows, out] = x [rows, in] weightᵀ + bias by packed weights; by transposed ones x's gradient from y's. x and y are
/// of one type and contiguous, bias is float32 [out] or undefined. then(begin, end) is called for rows of y as soon as
/// they are there, while they lie in the cache, on the thread that computed them.
void multiply_panels(const torch::Tensor& x, const torch::Tensor& panels, const torch::Tensor& bias, torch::Tensor& y,
                     const std::function<void(int64_t begin, int64_t end)>& then = {});

/// of_weight [out, in] += of_yᵀ x; of_bias [out] += the sums of of_y's columns, unless it is undefined. x [rows, in]
/// and of_y [rows, out] are of one type, the sums float32; all are contiguous.
void add_training_gradient(const torch::Tensor& x, const torch::Tensor& of_y, torch::Tensor& of_weight,
                           torch::Tensor& of_bias);

/// y [..., out of all maps] = x [..., in] through maps that has_training_kernel() takes, with gradients for x and all
/// weights and biases. Either all maps have a bias or none.
torch::Tensor multiply_for_training(const torch::Tensor& x, std::span<const AffineMap> maps);

}  // namespace nmt
