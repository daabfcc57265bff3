#include "training/optimizers/sharded_optimizer.h"

#include <map>

namespace nmt {

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
