#pragma once

#include <torch/types.h>

#include <optional>

#include "nn/kernels/kernels.h"

namespace nmt {

/// Whether the toolkit's CPU kernels take this tensor: float32 or bfloat16 on the CPU.
inline bool has_cpu_kernel(const torch::Tensor& x) {
  return x.device().is_cpu() && (x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kBFloat16);
}
/// Whether the CPU kernels of decoding take it: float32, no gradients asked for. In them no row's result depends on the
/// rows beside it.
inline bool has_decoding_kernel(const torch::Tensor& x) {
  return !torch::GradMode::is_enabled() && x.device().is_cpu() && x.scalar_type() == torch::kFloat32;
}
inline kernels::Type kernel_type(const torch::Tensor& x) {
  return x.scalar_type() == torch::kFloat32 ? kernels::Type::kFloat : kernels::Type::kBfloat16;
}

/// An undefined tensor as what torch::autograd::Function::apply takes for "none".
inline std::optional<torch::Tensor> optional_tensor(const torch::Tensor& x) {
  return x.defined() ? std::optional(x) : std::nullopt;
}

}  // namespace nmt
