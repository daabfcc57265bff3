#pragma once

#include <fmt/format.h>

#include <string>

#include "nn/kernels/products.h"

namespace nmt {

/// For program_version(): LibTorch, and the kernels that this process multiplies with ("LibTorch 2.13.0\nkernels:
/// avx2").
inline std::string torch_and_kernels() {
  return fmt::format("LibTorch {}\nkernels: {}", NMT_TORCH_VERSION, kernels::packed_kernels().name);
}

}  // namespace nmt
