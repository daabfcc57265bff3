#pragma once

#include <torch/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "models/interface/safetensors.h"
#include "training/distributed/process_group.h"
#include "training/optimizers/optimizer.h"

namespace nmt {

/// Which process of a run keeps what is kept for a parameter beside itself: moments, averages (ZeRO, stage 1, of
/// Rajbhandari et al. 2020). Whole parameters are shared out, the largest first, each to the process that has least so
/// far: a function of their names and sizes and of the number of processes.
class StateShares {
 public:
  /// parameters: the same ones on every process, on the device of the group's buckets. The group outlives it.
  StateShares(const NamedTensors& parameters, ProcessGroup& group);

  bool is_own(const std::string& parameter) const { return owners_.at(parameter) == group_.rank(); }
  /// The tensors of `parameters` that are this process's.
  NamedTensors own(const NamedTensors& parameters) const;
  /// Gives every process the values that each parameter has with its owner. To be called by all.
  void spread(const NamedTensors& parameters) const;
  /// State under "KIND.PARAMETER", what others keep on the device meta, as whole tensors: on the process that leads, on
  /// the CPU; nothing on the others. What belongs to no parameter every process has. To be called by all.
  NamedTensors gathered(const NamedTensors& state) const;

 private:
  ProcessGroup& group_;
  std::map<std::string, int64_t> owners_;
};

/// The owner of each of `parameters`, by the rule of StateShares: bytes of each, in their order.
std::vector<int64_t> owners_of(const std::vector<int64_t>& bytes, int64_t processes);

/// A tensor of x's size and type without memory.
torch::Tensor without_memory(const torch::Tensor& x);

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
