#pragma once

#include <memory>

#include "models/search/search_operations.h"
#include "nn/device/device_kernels.h"

namespace nmt {

/// The kernels of a card (kernels/search.py), in bfloat16: heads of 64 or 128, widths up to 1,024 that are a
/// multiple of 16. Borrows the kernels. It asks nothing of the device, so a step may be recorded.
std::unique_ptr<SearchOperations> kernel_search_operations(DeviceKernels& kernels, torch::Device device);

}  // namespace nmt
