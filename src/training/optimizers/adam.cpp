#include "training/optimizers/adam.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adamw.h>
#include <torch/csrc/autograd/variable.h>

namespace nmt {

Adam::Adam(NamedTensors parameters, Options options) : Optimizer(std::move(parameters)), options_(options) {
  for (const auto& [name, parameter] : this->parameters()) {
    first_.push_back(torch::zeros_like(parameter).detach());
    second_.push_back(torch::zeros_like(parameter).detach());
    steps_.push_back(torch::zeros({}, parameter.options().dtype(torch::kFloat32)).detach());
  }
}

void Adam::launch(double learning_rate, const std::optional<torch::Tensor>& skip) {
  const torch::NoGradGuard no_grad;
  const auto& decay = options_.weight_decay;
  if (!decay.decoupled) decay_weights(decay, learning_rate);  // changes gradients only
  std::vector<torch::Tensor> changed, gradients, first, second, steps;
  for (size_t i = 0; i < parameters().size(); ++i) {
    const auto& parameter = parameters()[i].second;
    if (!parameter.grad().defined()) continue;
    changed.push_back(parameter);
    gradients.push_back(parameter.grad());
    first.push_back(first_[i]);
    second.push_back(second_[i]);
    steps.push_back(steps_[i]);
  }
  if (changed.empty()) return;
  // The operator wants the number of this update; one that is left out does not count.
  if (skip)
    at::_foreach_add_(steps, 1 - *skip);
  else
    at::_foreach_add_(steps, 1);
  at::_fused_adamw_(changed, gradients, first, second, /*max_exp_avg_sqs=*/{}, steps, learning_rate, options_.beta1,
                    options_.beta2, decay.decoupled ? decay.rate : 0.0, options_.epsilon, /*amsgrad=*/false,
                    /*maximize=*/false, /*grad_scale=*/{}, /*found_inf=*/skip);
  // The fused operator does not count as a change by itself, and what is made of weights (PackedMatrix) would go stale.
  for (const auto& parameter : changed) torch::autograd::impl::bump_version(parameter);
}

NamedTensors Adam::state() const {
  NamedTensors state;
  for (size_t i = 0; i < parameters().size(); ++i) {
    state.emplace_back("first_moment." + parameters()[i].first, first_[i]);
    state.emplace_back("second_moment." + parameters()[i].first, second_[i]);
    state.emplace_back("steps." + parameters()[i].first, steps_[i]);
  }
  return state;
}

}  // namespace nmt
