#pragma once

#include <torch/nn/module.h>

namespace nmt {

/// Parameters and buffers go to `device`; they stay the same tensors, as with Module::to, which knows only the devices
/// that LibTorch itself was built for.
void move_module(torch::nn::Module& module, torch::Device device);

}  // namespace nmt
