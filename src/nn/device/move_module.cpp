#include "nn/device/move_module.h"

#include <ATen/ops/_has_compatible_shallow_copy_type.h>

namespace nmt {

void move_module(torch::nn::Module& module, torch::Device device) {
  const torch::NoGradGuard no_grad;
  for (const auto& tensors : {module.parameters(), module.buffers()})
    for (auto tensor : tensors) {
      const auto there = tensor.detach().to(device);
      if (at::_has_compatible_shallow_copy_type(tensor, there))
        tensor.set_data(there);
      else
        tensor.unsafeGetTensorImpl()->shallow_copy_from(there.getIntrusivePtr());
    }
}

}  // namespace nmt
