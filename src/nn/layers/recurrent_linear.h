#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "nn/ops/linear.h"

namespace nmt {

/// For loops over time: while it lives, every Linear below `module` multiplies by one copy of its weight in `type`, and
/// the gradient of that weight is one product over all steps, made when the last of them has been gone back through.
/// The sums are those of the plain layers. Without gradients it does nothing. One at a time for a module.
class StepwiseGradients {
 public:
  StepwiseGradients(torch::nn::Module& module, at::ScalarType type);
  ~StepwiseGradients();
  StepwiseGradients(const StepwiseGradients&) = delete;
  StepwiseGradients& operator=(const StepwiseGradients&) = delete;

 private:
  std::vector<std::shared_ptr<LinearImpl>> layers_;
};

}  // namespace nmt
