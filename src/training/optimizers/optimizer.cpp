#include "training/optimizers/optimizer.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <torch/types.h>

namespace nmt {

void Optimizer::step_unless(const torch::Tensor& skip, double learning_rate) {
  if (skip.is_cpu()) {
    if (skip.item<float>() == 0) step(learning_rate);
    return;
  }
  const torch::NoGradGuard no_grad;
  auto changed = state();
  changed.insert(changed.end(), parameters_.begin(), parameters_.end());
  std::vector<torch::Tensor> before;
  for (const auto& item : changed) before.push_back(item.second.clone());
  step(learning_rate);
  const auto taken_back = skip.to(torch::kBool);
  for (size_t i = 0; i < changed.size(); ++i)
    changed[i].second.copy_(at::where(taken_back, before[i], changed[i].second));
}

torch::Tensor Optimizer::clip_gradients(double max_norm) {
  const torch::NoGradGuard no_grad;
  auto gradients = this->gradients();
  if (gradients.empty())
    return torch::zeros({}, parameters_.empty() ? torch::TensorOptions() : parameters_.front().second.options());
  const auto norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients)));
  if (max_norm > 0) {
    const auto factor = (max_norm / norm.to(torch::kFloat64)).clamp_max(1).to(norm.scalar_type());
    for (auto& gradient : gradients) gradient.mul_(factor);
  }
  return norm;
}

std::vector<torch::Tensor> Optimizer::gradients() const {
  std::vector<torch::Tensor> gradients;
  for (const auto& [name, parameter] : parameters_)
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  return gradients;
}

void Optimizer::clear_gradients() {
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad().reset();
}

void Optimizer::decay_weights(const WeightDecay& decay, double learning_rate) {
  if (decay.rate == 0) return;
  for (auto& [name, parameter] : parameters_) {
    if (!parameter.grad().defined()) continue;
    if (decay.decoupled)
      parameter.mul_(1 - learning_rate * decay.rate);
    else
      parameter.mutable_grad().add_(parameter, decay.rate);
  }
}

torch::Tensor count_of_steps(const NamedTensors& parameters) {
  const auto device = parameters.empty() ? torch::Device(torch::kCPU) : parameters.front().second.device();
  return torch::zeros({}, torch::TensorOptions(torch::kFloat64).device(device));
}

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
