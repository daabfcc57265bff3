#pragma once

#include <torch/types.h>

#include <string>

namespace nmt {

/// "auto" (a GPU where there is one), "cpu", "cuda", "cuda:N". Throws Error where it is not there or not known.
torch::Device resolve_device(const std::string& name);

/// "auto": bfloat16 where the device multiplies it fast (CPU: AVX512-BF16 or AMX), else float32; "fp32"; "bf16".
at::ScalarType resolve_precision(const std::string& name, torch::Device device);
std::string precision_name(at::ScalarType type);  ///< "fp32" or "bf16"

}  // namespace nmt
