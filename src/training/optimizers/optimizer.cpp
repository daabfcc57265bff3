#include "training/optimizers/optimizer.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>

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

Adam::Adam(NamedTensors parameters, Options options) : Optimizer(std::move(parameters)), options_(options) {
  for (const auto& [name, parameter] : this->parameters()) {
    first_.push_back(torch::zeros_like(parameter).detach());
    second_.push_back(torch::zeros_like(parameter).detach());
    steps_.push_back(torch::zeros({}, parameter.options().dtype(torch::kFloat32)).detach());
  }
}

void Adam::step(double learning_rate) { launch(learning_rate, std::nullopt); }

void Adam::step_unless(const torch::Tensor& skip, double learning_rate) { launch(learning_rate, skip); }

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

namespace {

constexpr double kEpsilon1 = 1e-30, kEpsilon2 = 1e-3;

torch::Tensor root_mean_square(const torch::Tensor& x) { return x.square().mean().sqrt(); }

}  // namespace

Adafactor::Adafactor(NamedTensors parameters, Options options)
    : Optimizer(std::move(parameters)), options_(options), steps_(count_of_steps(this->parameters())) {
  for (const auto& [name, parameter] : this->parameters()) {
    const auto zeros = [&](at::IntArrayRef sizes) { return torch::zeros(sizes, parameter.options()).detach(); };
    if (parameter.dim() == 2)
      moments_.push_back({.rows = zeros({parameter.size(0), 1}), .columns = zeros({1, parameter.size(1)}), .all = {}});
    else
      moments_.push_back({.rows = {}, .columns = {}, .all = zeros(parameter.sizes())});
  }
}

template <typename Share>
torch::Tensor Adafactor::direction(Moments& moments, const torch::Tensor& gradient, const Share& share) {
  const auto squares = gradient.square().add_(kEpsilon1);
  if (moments.all.defined()) return gradient * moments.all.lerp_(squares, share).rsqrt();
  moments.rows.lerp_(squares.mean(1, /*keepdim=*/true), share);
  moments.columns.lerp_(squares.mean(0, /*keepdim=*/true), share);
  // The roots one by one: the product of two squares of small gradients would be zero in float32.
  return gradient * (moments.rows / moments.rows.mean()).rsqrt_() * moments.columns.rsqrt();
}

void Adafactor::step(double learning_rate) {
  const torch::NoGradGuard no_grad;
  decay_weights(options_.weight_decay, learning_rate);
  steps_.add_(1);
  // A GPU alone knows the number of the step, since it may leave one out: the host would have to ask for it.
  const auto of_device = steps_.is_cpu() ? torch::Tensor() : steps_.pow(-options_.decay).to(torch::kFloat32);
  const double keep = steps_.is_cpu() ? 1 - std::pow(steps_.item<double>(), -options_.decay) : 0;
  for (size_t i = 0; i < parameters().size(); ++i) {
    auto parameter = parameters()[i].second;
    if (!parameter.grad().defined()) continue;
    auto u = of_device.defined() ? direction(moments_[i], parameter.grad(), of_device)
                                 : direction(moments_[i], parameter.grad(), 1 - keep);
    auto factor = learning_rate / (root_mean_square(u) / options_.clip).clamp_min(1);
    if (options_.scale_by_weights) factor = factor * root_mean_square(parameter).clamp_min(kEpsilon2);
    parameter.sub_(u.mul_(factor));
  }
}

NamedTensors Adafactor::state() const {
  NamedTensors state;
  for (size_t i = 0; i < parameters().size(); ++i) {
    const auto& name = parameters()[i].first;
    const auto& moments = moments_[i];
    if (moments.all.defined()) {
      state.emplace_back("second_moment." + name, moments.all);
    } else {
      state.emplace_back("rows." + name, moments.rows);
      state.emplace_back("columns." + name, moments.columns);
    }
  }
  state.emplace_back("steps", steps_);
  return state;
}

std::unique_ptr<Optimizer> make_optimizer(const TrainingConfig& config, NamedTensors parameters) {
  const WeightDecay decay(config.weight_decay, config.weight_decay_form == WeightDecayForm::kDecoupled);
  switch (config.optimizer) {
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW:
      return std::make_unique<Adam>(std::move(parameters), Adam::Options{.beta1 = config.adam_beta1,
                                                                         .beta2 = config.adam_beta2,
                                                                         .epsilon = config.adam_epsilon,
                                                                         .weight_decay = decay});
    case OptimizerKind::kRadam:
      return std::make_unique<RAdam>(std::move(parameters), RAdam::Options{.beta1 = config.adam_beta1,
                                                                           .beta2 = config.adam_beta2,
                                                                           .epsilon = config.adam_epsilon,
                                                                           .weight_decay = decay});
    case OptimizerKind::kAdafactor:
      return std::make_unique<Adafactor>(std::move(parameters),
                                         Adafactor::Options{.decay = config.adafactor_decay,
                                                            .clip = config.adafactor_clip,
                                                            .scale_by_weights = config.adafactor_scale,
                                                            .weight_decay = decay});
    case OptimizerKind::kSgd:
      return std::make_unique<Sgd>(std::move(parameters),
                                   Sgd::Options{.momentum = config.sgd_momentum, .weight_decay = decay});
    case OptimizerKind::kAdadelta:
      return std::make_unique<Adadelta>(
          std::move(parameters),
          Adadelta::Options{.rho = config.adadelta_rho, .epsilon = config.adadelta_epsilon, .weight_decay = decay});
  }
  return nullptr;
}

}  // namespace nmt
