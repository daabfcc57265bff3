#include "training/optimizers/sgd.h"

namespace nmt {

Sgd::Sgd(NamedTensors parameters, Options options) : Optimizer(std::move(parameters)), options_(options) {
  for (const auto& [name, parameter] : this->parameters()) momenta_.push_back(torch::zeros_like(parameter).detach());
}

void Sgd::step(double learning_rate) {
  const torch::NoGradGuard no_grad;
  decay_weights(options_.weight_decay, learning_rate);
  for (size_t i = 0; i < parameters().size(); ++i) {
    auto parameter = parameters()[i].second;
    if (!parameter.grad().defined()) continue;
    parameter.sub_(momenta_[i].mul_(options_.momentum).add_(parameter.grad()), learning_rate);
  }
}

NamedTensors Sgd::state() const {
  NamedTensors state;
  for (size_t i = 0; i < parameters().size(); ++i) state.emplace_back("momentum." + parameters()[i].first, momenta_[i]);
  return state;
}

}  // namespace nmt
