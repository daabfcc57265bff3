#include "training/loop/averages.h"

#include <ATen/ops/_foreach_lerp.h>

#include <algorithm>

#include "base/error.h"

namespace nmt {

void load_average(const NamedTensors& targets, std::span<const std::filesystem::path> files) {
  if (files.empty()) throw Error("no checkpoints to average");
  const torch::NoGradGuard no_grad;
  NamedTensors part;
  std::vector<torch::Tensor> sums;
  for (const auto& [name, target] : targets) {
    part.emplace_back(name, torch::empty_like(target, torch::TensorOptions(torch::kCPU)));
    sums.push_back(torch::zeros(target.sizes(), torch::kFloat64));
  }
  for (const auto& file : files) {
    copy_into(part, load_safetensors(file), file);
    for (size_t i = 0; i < part.size(); ++i) sums[i].add_(part[i].second);
  }
  for (size_t i = 0; i < targets.size(); ++i)
    targets[i].second.detach().copy_(sums[i] / static_cast<double>(files.size()));
}

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

MovingAverage::MovingAverage(NamedTensors weights, double decay, const StateShares* shares)
    : weights_(std::move(weights)), decay_(decay), shares_(shares) {
  for (const auto& [name, weight] : weights_) {
    const bool is_own = !shares || shares->is_own(name);
    averages_.push_back(is_own ? weight.detach().clone() : without_memory(weight));
    if (!is_own) continue;
    own_.push_back(averages_.back());
    followed_.push_back(weight.detach());
  }
}

void MovingAverage::follow(int64_t update) {
  gathered_.clear();
  if (own_.empty()) return;
  const torch::NoGradGuard no_grad;
  const double t = static_cast<double>(update), decay = std::min(decay_, (1 + t) / (10 + t));
  at::_foreach_lerp_(own_, followed_, 1 - decay);
}

void MovingAverage::gather() {
  if (shares_) gathered_ = shares_->gathered(state());
}

void MovingAverage::put_into_weights() const {
  if (!shares_) return copy_to(weights_, averages_);
  TORCH_CHECK(gathered_.size() == weights_.size(), "the averages are not gathered");
  std::vector<torch::Tensor> whole;
  for (const auto& item : gathered_) whole.push_back(item.second);
  copy_to(weights_, whole);
}

NamedTensors MovingAverage::state() const {
  NamedTensors state;
  for (size_t i = 0; i < weights_.size(); ++i) state.emplace_back("moving_average." + weights_[i].first, averages_[i]);
  return state;
}

KeptWeights::KeptWeights(NamedTensors weights) : weights_(std::move(weights)), values_(copies(weights_)) {}
KeptWeights::~KeptWeights() { copy_to(weights_, values_); }

}  // namespace nmt
