#include "nn/modules/auxiliary_loss.h"

namespace nmt {

torch::Tensor take_auxiliary_losses(const std::vector<std::shared_ptr<torch::nn::Module>>& modules) {
  torch::Tensor sum;
  for (const auto& module : modules) {
    auto* has_loss = dynamic_cast<AuxiliaryLoss*>(module.get());
    const auto loss = has_loss ? has_loss->take_auxiliary_loss() : torch::Tensor();
    if (loss.defined()) sum = sum.defined() ? sum + loss : loss;
  }
  return sum;
}

}  // namespace nmt
