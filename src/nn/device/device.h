#pragma once

#include <torch/types.h>

#include <string>

#include "config/kinds.h"
#include "nn/device/device_capabilities.h"

namespace nmt {

/// "auto" (the accelerator that LibTorch has, a GPU, where there is one), "cpu", "cuda", "cuda:N". Throws Error where
/// it is not there or not known.
torch::Device resolve_device(const std::string& name);

/// Auto: bfloat16 where the device multiplies it quickly, else float16 where a GPU does, else float32. Throws Error for
/// float16 on the CPU.
at::ScalarType resolve_precision(TrainingPrecision wanted, const DeviceCapabilities& device);
at::ScalarType resolve_precision(TrainingPrecision wanted, torch::Device device);
std::string precision_name(at::ScalarType type);            ///< "fp32", "bf16" or "fp16"
at::ScalarType type_of_precision(const std::string& name);  ///< the other way round

/// What the operations of `device` draw from now on is a function of `seed`.
void set_seed(torch::Device device, uint64_t seed);

/// The most bytes that tensors on `device` had at once since reset_peak_tensor_bytes(); 0 where its allocator does not
/// count them. The CPU: most_tensor_bytes_in_use().
int64_t peak_tensor_bytes(torch::Device device);
void reset_peak_tensor_bytes(torch::Device device);

/// A tensor of the CPU on `device`, itself where it is there already. The host does not wait for a GPU: the copy goes
/// through pinned memory, in the order of the present stream.
torch::Tensor copy_to_device(const torch::Tensor& x, torch::Device device);

}  // namespace nmt
