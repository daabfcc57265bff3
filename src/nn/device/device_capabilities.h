#pragma once

#include <torch/types.h>

#include <cstdint>

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

/// Of an NVIDIA card of this compute capability: bfloat16 and FlashAttention-2 come with 8.0 (Ampere), tensor cores for
/// float16 with 7.0 (Volta).
DeviceCapabilities capabilities_of_cuda(int major, int minor, int64_t memory);

}  // namespace nmt
