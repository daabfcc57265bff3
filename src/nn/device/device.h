#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <exception>
#include <string>

#include "config/kinds.h"

namespace nmt {

/// What a device can do. Code asks for what it needs, never for the name of a device: a GPU of another maker, or the
/// simulated one of the tests, takes the same ways.
struct DeviceCapabilities {
  bool host = true;                  ///< it is the CPU: tensors can be read where they are, and nobody waits for it
  bool bfloat16 = false;             ///< products of bfloat16 are quicker than those of float32
  bool float16 = false;              ///< the same of float16
  bool flash_attention = false;      ///< packed attention in 16 bits
  bool efficient_attention = false;  ///< packed attention in float32
  bool recurrent_layers = false;     ///< a recurrent layer is one call (cuDNN), quicker than its steps one by one
  bool graphs = false;               ///< work can be recorded and replayed
  int64_t memory = 0;                ///< bytes in all; 0: not known
};

DeviceCapabilities capabilities_of(torch::Device device);

/// The capabilities of an NVIDIA card of this compute capability: bfloat16 and FlashAttention-2 come with 8.0 (Ampere),
/// tensor cores for float16 with 7.0 (Volta).
DeviceCapabilities capabilities_of_cuda(int major, int minor, int64_t memory);

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

/// Parameters and buffers go to `device`; they stay the same tensors, as with Module::to, which knows only the devices
/// that LibTorch itself was built for.
void move_module(torch::nn::Module& module, torch::Device device);

/// True if `error` says that the host or a device had no memory left: less at a time may fit.
bool is_out_of_memory(const std::exception& error);

}  // namespace nmt
