#include "training/optimizers/adam.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/where.h>
#include <torch/csrc/autograd/variable.h>

#include <cmath>

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

RAdam::RAdam(NamedTensors parameters, Options options)
    : Optimizer(std::move(parameters)), options_(options), steps_(count_of_steps(this->parameters())) {
  for (const auto& [name, parameter] : this->parameters()) {
    first_.push_back(torch::zeros_like(parameter).detach());
    second_.push_back(torch::zeros_like(parameter).detach());
  }
}

void RAdam::step(double learning_rate) {
  const torch::NoGradGuard no_grad;
  decay_weights(options_.weight_decay, learning_rate);
  if (!steps_.is_cpu()) return step_on_device(learning_rate);
  const double t = steps_.add_(1).item<double>();
  const double remaining1 = 1 - std::pow(options_.beta1, t), power2 = std::pow(options_.beta2, t);
  const double max = 2 / (1 - options_.beta2) - 1;            // r_inf
  const double length = max - 2 * t * power2 / (1 - power2);  // r_t
  const bool rectified = length > 5;
  const double rectification =
      rectified ? std::sqrt((length - 4) * (length - 2) * max / ((max - 4) * (max - 2) * length)) : 1;
  for (size_t i = 0; i < parameters().size(); ++i) {
    auto parameter = parameters()[i].second;
    const auto& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    first_[i].lerp_(gradient, 1 - options_.beta1);
    second_[i].mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
    const double rate = learning_rate / remaining1;
    if (rectified)
      parameter.addcdiv_(first_[i], second_[i].sqrt().add_(options_.epsilon),
                         -rate * rectification * std::sqrt(1 - power2));
    else
      parameter.sub_(first_[i], rate);
  }
}

// The same in scalars of the device, which alone knows the number of the step: the host would have to ask for it.
void RAdam::step_on_device(double learning_rate) {
  const auto t = steps_.add_(1);
  const auto remaining1 = 1 - at::pow(options_.beta1, t), power2 = at::pow(options_.beta2, t);
  const double max = 2 / (1 - options_.beta2) - 1;
  const auto length = max - 2 * t * power2 / (1 - power2);
  const auto rectified = length > 5;
  const auto rectification = ((length - 4) * (length - 2) * max / ((max - 4) * (max - 2) * length)).sqrt();
  const auto rate = learning_rate / remaining1, adaptive_rate = rate * rectification * (1 - power2).sqrt();
  for (size_t i = 0; i < parameters().size(); ++i) {
    auto parameter = parameters()[i].second;
    const auto& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    first_[i].lerp_(gradient, 1 - options_.beta1);
    second_[i].mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
    const auto adaptive = first_[i] / second_[i].sqrt().add_(options_.epsilon) * adaptive_rate;
    parameter.sub_(at::where(rectified, adaptive, first_[i] * rate));
  }
}

NamedTensors RAdam::state() const {
  NamedTensors state;
  for (size_t i = 0; i < parameters().size(); ++i) {
    state.emplace_back("first_moment." + parameters()[i].first, first_[i]);
    state.emplace_back("second_moment." + parameters()[i].first, second_[i]);
  }
  state.emplace_back("steps", steps_);
  return state;
}

}  // namespace nmt
