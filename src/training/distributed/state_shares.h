#pragma once

#include <torch/types.h>

#include <map>
#include <string>

#include "models/interface/safetensors.h"
#include "training/distributed/process_group.h"

namespace nmt {

/// Which process of a run keeps what is kept for a parameter beside itself: moments, averages (ZeRO, stage 1, of
/// Rajbhandari et al. 2020). Whole parameters are shared out, the largest first, each to the process that has least so
/// far: a function of their names and sizes and of the number of processes.
class StateShares {
 public:
  /// parameters: the same ones on every process, on the device of the group's buckets. The group outlives it.
  StateShares(const NamedTensors& parameters, ProcessGroup& group);

  bool is_own(const std::string& parameter) const { return owners_.at(parameter) == group_.rank(); }
  /// Those of `parameters` that are this process's.
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

}  // namespace nmt
