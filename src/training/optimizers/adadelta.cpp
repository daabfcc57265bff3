#include "training/optimizers/adadelta.h"

#include <torch/types.h>

namespace nmt {

Adadelta::Adadelta(NamedTensors parameters, Options options) : Optimizer(std::move(parameters)), options_(options) {
  for (const auto& [name, parameter] : this->parameters()) {
    squares_.push_back(torch::zeros_like(parameter).detach());
    changes_.push_back(torch::zeros_like(parameter).detach());
  }
}

void Adadelta::step(double learning_rate) {
  const torch::NoGradGuard no_grad;
  const double rho = options_.rho, epsilon = options_.epsilon;
  decay_weights(options_.weight_decay, learning_rate);
  for (size_t i = 0; i < parameters().size(); ++i) {
    auto parameter = parameters()[i].second;
    const auto& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    squares_[i].mul_(rho).addcmul_(gradient, gradient, 1 - rho);
    const auto change = (changes_[i] + epsilon).div_(squares_[i] + epsilon).sqrt_().mul_(gradient);
    changes_[i].mul_(rho).addcmul_(change, change, 1 - rho);
    parameter.sub_(change, learning_rate);
  }
}

NamedTensors Adadelta::state() const {
  NamedTensors state;
  for (size_t i = 0; i < parameters().size(); ++i) {
    state.emplace_back("mean_square." + parameters()[i].first, squares_[i]);
    state.emplace_back("mean_square_change." + parameters()[i].first, changes_[i]);
  }
  return state;
}

}  // namespace nmt
