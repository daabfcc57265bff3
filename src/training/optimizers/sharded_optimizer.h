#pragma once

#include <functional>
#include <memory>

#include "training/distributed/state_shares.h"
#include "training/optimizers/optimizer.h"

namespace nmt {

/// An optimizer of several processes, each of which keeps the state of its share of the parameters, changes these, and
/// gets the others from their owners. All have the same gradients: the results are those of the whole optimizer.
class ShardedOptimizer final : public Optimizer {
 public:
  using Maker = std::function<std::unique_ptr<Optimizer>(NamedTensors parameters)>;
  /// make: the optimizer of some parameters; shares outlives it. Parameters are the same on every process.
  ShardedOptimizer(NamedTensors parameters, const StateShares& shares, const Maker& make);

  void step(double learning_rate) override;
  void step_unless(const torch::Tensor& skip, double learning_rate) override;
  /// That of the whole optimizer, in its order: what other processes keep is on the device meta, a size without memory.
  NamedTensors state() const override { return state_; }

 private:
  const StateShares& shares_;
  std::unique_ptr<Optimizer> own_;
  NamedTensors state_;
};

}  // namespace nmt
