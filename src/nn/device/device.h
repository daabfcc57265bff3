#pragma once

#include <torch/types.h>

#include <string>

#include "config/kinds.h"

namespace nmt {

/// "auto" (a GPU where there is one), "cpu", "cuda", "cuda:N". Throws Error where it is not there or not known.
torch::Device resolve_device(const std::string& name);

/// Whether the device has instructions for products of bfloat16 (CPU: AVX512-BF16, which all with AMX have).
bool multiplies_bfloat16(torch::Device device);
/// Auto: bfloat16 where the device multiplies it, else float32.
at::ScalarType resolve_precision(TrainingPrecision wanted, torch::Device device);
std::string precision_name(at::ScalarType type);  ///< "fp32" or "bf16"

/// A tensor of the CPU on `device`, itself where that is the CPU. The host does not wait for a GPU: the copy goes
/// through pinned memory, in the order of the present stream.
torch::Tensor copy_to_device(const torch::Tensor& x, torch::Device device);

}  // namespace nmt
