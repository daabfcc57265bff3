#include "training/adam.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <torch/csrc/autograd/variable.h>

namespace nmt {

Adam::Adam(NamedTensors parameters, Options options) : parameters_(std::move(parameters)), options_(options) {
  for (const auto& [name, parameter] : parameters_) {
    first_.push_back(torch::zeros_like(parameter).detach());
    second_.push_back(torch::zeros_like(parameter).detach());
    steps_.push_back(torch::zeros({}, parameter.options().dtype(torch::kFloat32)).detach());
  }
}

void Adam::step(double learning_rate) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> parameters, gradients, first, second, steps;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto& parameter = parameters_[i].second;
    if (!parameter.grad().defined()) continue;
    parameters.push_back(parameter);
    gradients.push_back(parameter.grad());
    first.push_back(first_[i]);
    second.push_back(second_[i]);
    steps.push_back(steps_[i]);
  }
  if (parameters.empty()) return;
  at::_foreach_add_(steps, 1);  // the operator wants the number of this update
  at::_fused_adamw_(parameters, gradients, first, second, /*max_exp_avg_sqs=*/{}, steps, learning_rate, options_.beta1,
                    options_.beta2, options_.weight_decay, options_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  // The fused operator does not count as a change by itself, and what is made of weights (PackedMatrix) would go stale.
  for (const auto& parameter : parameters) torch::autograd::impl::bump_version(parameter);
}

double Adam::clip_gradients(double max_norm) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> gradients;
  for (const auto& [name, parameter] : parameters_)
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  if (gradients.empty()) return 0;
  const double norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients))).item<double>();
  if (max_norm > 0 && norm > max_norm) scale_gradients(max_norm / norm);
  return norm;
}

void Adam::scale_gradients(double factor) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, parameter] : parameters_)
    if (parameter.grad().defined()) parameter.grad().mul_(factor);
}

void Adam::clear_gradients() {
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad().reset();
}

NamedTensors Adam::state() const {
  NamedTensors state;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    state.emplace_back("first_moment." + parameters_[i].first, first_[i]);
    state.emplace_back("second_moment." + parameters_[i].first, second_[i]);
    state.emplace_back("steps." + parameters_[i].first, steps_[i]);
  }
  return state;
}

}  // namespace nmt
