#include "training/distributed/state_shares.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace nmt {

std::vector<int64_t> owners_of(const std::vector<int64_t>& bytes, int64_t processes) {
  std::vector<size_t> by_size(bytes.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::stable_sort(by_size.begin(), by_size.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
  std::vector<int64_t> owners(bytes.size()), kept(processes);
  for (const size_t i : by_size) {
    const auto least = std::min_element(kept.begin(), kept.end());
    owners[i] = least - kept.begin();
    *least += bytes[i];
  }
  return owners;
}

torch::Tensor without_memory(const torch::Tensor& x) {
  return at::empty(x.sizes(), x.options().device(torch::kMeta).requires_grad(false));
}

StateShares::StateShares(const NamedTensors& parameters, ProcessGroup& group) : group_(group) {
  std::vector<int64_t> bytes;
  for (const auto& item : parameters) bytes.push_back(static_cast<int64_t>(item.second.nbytes()));
  const auto owners = owners_of(bytes, group.size());
  for (size_t i = 0; i < parameters.size(); ++i) owners_[parameters[i].first] = owners[i];
}

NamedTensors StateShares::own(const NamedTensors& parameters) const {
  NamedTensors mine;
  for (const auto& item : parameters)
    if (is_own(item.first)) mine.push_back(item);
  return mine;
}

void StateShares::spread(const NamedTensors& parameters) const {
  std::vector<OwnedTensor> tensors;
  for (const auto& [name, parameter] : parameters) tensors.push_back({parameter.detach(), owners_.at(name)});
  group_.hand_over(tensors, Receivers::kAll);
  // Written past autograd: what is made of weights (PackedMatrix) would go stale.
  for (const auto& item : parameters) torch::autograd::impl::bump_version(item.second);
}

NamedTensors StateShares::gathered(const NamedTensors& state) const {
  std::vector<OwnedTensor> tensors;
  NamedTensors whole;
  const auto device = [&] {
    for (const auto& item : state)
      if (!item.second.is_meta()) return item.second.device();
    return torch::Device(torch::kCPU);
  }();
  for (const auto& [name, tensor] : state) {
    const auto found = owners_.find(name.substr(name.find('.') + 1));
    const int64_t owner = found == owners_.end() ? group_.rank() : found->second;
    auto values = tensor.detach();
    if (group_.leads() && owner != 0) values = at::empty(tensor.sizes(), tensor.options().device(device));
    if (found != owners_.end() && owner != 0) tensors.push_back({values, owner});
    if (group_.leads()) whole.emplace_back(name, values);
  }
  group_.hand_over(tensors, Receivers::kLeader);
  for (auto& item : whole) item.second = item.second.cpu();
  return whole;
}

ShardedOptimizer::ShardedOptimizer(NamedTensors parameters, const StateShares& shares, const Maker& make)
    : Optimizer(std::move(parameters)), shares_(shares), own_(make(shares.own(this->parameters()))) {
  NamedTensors of_no_memory;
  for (const auto& [name, parameter] : this->parameters()) of_no_memory.emplace_back(name, without_memory(parameter));
  std::map<std::string, torch::Tensor> kept;
  for (auto& [name, tensor] : own_->state()) kept.emplace(name, tensor);
  for (const auto& [name, tensor] : make(of_no_memory)->state()) {
    const auto mine = kept.find(name);
    state_.emplace_back(name, mine == kept.end() ? tensor : mine->second);
  }
}

void ShardedOptimizer::step(double learning_rate) {
  own_->step(learning_rate);
  shares_.spread(parameters());
}

void ShardedOptimizer::step_unless(const torch::Tensor& skip, double learning_rate) {
  own_->step_unless(skip, learning_rate);
  shares_.spread(parameters());
}

}  // namespace nmt
