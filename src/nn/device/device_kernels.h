#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nn/device/cuda_driver.h"

namespace nmt {

/// A kernel of kernels/ (Triton) as PTX, with what a launch has to know (docs/gpu.md, "Kernels of the training path").
struct CompiledKernel {
  enum class Type { kPointer, kInt32, kFloat32 };
  struct Parameter {
    std::string name;
    Type type;
    bool sixteens;  ///< the code relies on a multiple of 16: of bytes for an address, of elements for a number
  };

  std::string name;
  int capability;  ///< 80: any card from compute capability 8.0 on; 90: 9.0 alone, whose own instructions it has
  std::string entry;
  int warps, shared;                     ///< threads / 32 of a block; bytes
  std::map<std::string, int> constants;  ///< sizes that are fixed in it, such as the ROWS of a block: grids follow them
  std::vector<Parameter> parameters;
  std::string ptx;
};

/// All that the program holds, in the order of kernels/table.py.
const std::vector<CompiledKernel>& compiled_kernels();

/// One for an address on the device, one for a number of each kind; the order and types are those of the parameters.
using KernelArgument = std::variant<const void*, int32_t, float>;

/// The kernels of one device. Each is compiled for the card by the driver at its first launch, some 0.2 s that its
/// cache saves later programs. Any number of threads may launch; each has used the device by LibTorch before.
class DeviceKernels {
 public:
  /// capability: major * 10 + minor. Throws Error below 80.
  DeviceKernels(CudaDriver driver, torch::Device device, int capability);
  DeviceKernels(const DeviceKernels&) = delete;
  DeviceKernels& operator=(const DeviceKernels&) = delete;

  /// Null: the card has none of that name, which code for its compute capability cannot do without spilled registers.
  const CompiledKernel* find(std::string_view name) const;

  /// Puts one launch into the device's present stream, into a recording of it where there is one. `grid`: blocks along
  /// x, y and z. Throws MachineError where the driver refuses, std::invalid_argument for an unknown kernel and for
  /// arguments that are not its parameters.
  void launch(std::string_view name, std::array<unsigned, 3> grid, std::span<const KernelArgument> arguments);

 private:
  struct Loaded {
    const CompiledKernel* kernel;
    void* function;  // null before the first launch
  };

  const Loaded& loaded(std::string_view name);

  CudaDriver driver_;
  torch::Device device_;
  std::mutex mutex_;
  std::map<std::string, Loaded, std::less<>> kernels_;
};

}  // namespace nmt
