#include "training/averages/moving_average.h"

#include <ATen/ops/_foreach_lerp.h>

#include <algorithm>

namespace nmt {
namespace {

std::vector<torch::Tensor> copies(const NamedTensors& tensors) {
  std::vector<torch::Tensor> made;
  for (const auto& [name, tensor] : tensors) made.push_back(tensor.detach().clone());
  return made;
}

void copy_to(const NamedTensors& tensors, const std::vector<torch::Tensor>& values) {
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].second.detach().copy_(values[i]);
}

}  // namespace

MovingAverage::MovingAverage(NamedTensors weights, double decay)
    : weights_(std::move(weights)), averages_(copies(weights_)), decay_(decay) {}

void MovingAverage::follow(int64_t update) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> now;
  for (const auto& [name, tensor] : weights_) now.push_back(tensor.detach());
  const double t = static_cast<double>(update), decay = std::min(decay_, (1 + t) / (10 + t));
  at::_foreach_lerp_(averages_, now, 1 - decay);
}

void MovingAverage::put_into_weights() const { copy_to(weights_, averages_); }

NamedTensors MovingAverage::state() const {
  NamedTensors state;
  for (size_t i = 0; i < weights_.size(); ++i) state.emplace_back("moving_average." + weights_[i].first, averages_[i]);
  return state;
}

KeptWeights::KeptWeights(NamedTensors weights) : weights_(std::move(weights)), values_(copies(weights_)) {}
KeptWeights::~KeptWeights() { copy_to(weights_, values_); }

}  // namespace nmt
