#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "config/config.h"
#include "training/packed/packed_operations.h"

namespace nmt {

/// One kernel beside its plain twin on small input.
struct KernelCheck {
  std::string name;
  double error = 0;  ///< of the worst result, ||got - expected|| / ||expected||; infinite: one is no number
  double bound = 0;
  bool is_right() const { return error < bound; }
};

/// Runs each kernel that a model of these sizes needs on `device`, with activations of `type`, and its twin on the CPU
/// (PlainOperations): a second on a card. Throws MachineError where the device refuses one.
std::vector<KernelCheck> check_kernels(PackedOperations& operations, const ModelConfig& config, torch::Device device,
                                       at::ScalarType type);

}  // namespace nmt
