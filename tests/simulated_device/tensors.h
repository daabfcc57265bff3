#pragma once

#include <torch/types.h>

#include "simulated_device/memory.h"

namespace nmt::simulated {

/// Empty tensors of the device.
at::Tensor empty(at::IntArrayRef sizes, at::ScalarType type);
at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType type);

/// A tensor of the CPU over the same numbers, for work: it lies where the host of the device's tensor cannot look.
at::Tensor alias_of(const at::Tensor& x);

/// A tensor of the CPU of the same type, sizes and strides that is full of ones (integers: 0), to try an operation on.
at::Tensor dummy_of(const at::Tensor& x);

bool is_ours(const at::Tensor& x);

/// A generator of the CPU that begins with the next numbers of the device's.
at::Generator next_generator(const std::optional<at::Generator>& generator = std::nullopt);
const at::Generator& default_generator();
at::Generator new_generator();

}  // namespace nmt::simulated
