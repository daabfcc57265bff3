#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <vector>

namespace nmt {

/// A module whose forward pass has a loss of its own that is to be minimised, too, such as the balance of the experts'
/// load in a mixture of experts (Fedus et al. 2022, eq. 4).
class AuxiliaryLoss {
 public:
  virtual ~AuxiliaryLoss() = default;
  /// That of the last forward pass in training, weighted: a float32 scalar with gradient, a mean over tokens; undefined
  /// where there was none. It is given once.
  virtual torch::Tensor take_auxiliary_loss() = 0;
};

/// The sum of the losses of those modules that have one, in their order; undefined: none has.
torch::Tensor take_auxiliary_losses(const std::vector<std::shared_ptr<torch::nn::Module>>& modules);

}  // namespace nmt
