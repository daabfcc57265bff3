#include "training/optimizers/adafactor.h"

#include <algorithm>
#include <cmath>

namespace nmt {
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

}  // namespace nmt
