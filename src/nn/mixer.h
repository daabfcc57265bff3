#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "nn/pass.h"
#include "nn/step_history.h"

namespace nmt {

/// Where a step stands whose tensors keep their shapes and their memory from step to step, so that a device can record
/// it once and replay it: nothing in it comes from the host.
struct FixedPlace {
  int64_t room = 0;        ///< positions that fit
  torch::Tensor position;  ///< int64 [1] on the device, less than room
  torch::Tensor visible;   ///< bool [room] on the device: positions up to this one
};

/// What a mixer remembers of the hypotheses of a search. Empty before the first step.
struct MixerState {
  std::vector<torch::Tensor> tensors;  ///< each [rows, ...], one row a hypothesis
  std::shared_ptr<const FixedPlace> fixed = nullptr;  ///< then tensors are changed in place after the first step
  StepHistory history;                 ///< what need not move when hypotheses do

  /// New row r continues old row rows[r]: int64 [new rows], on the CPU.
  void select(const torch::Tensor& rows) {
    for (auto& tensor : tensors) tensor = tensor.index_select(0, rows.to(tensor.device()));
    history.select(rows);
  }
};

/// How a decoder block tells a position of those before it: self-attention, or what stands in its place.
class Mixer : public torch::nn::Module {
 public:
  /// Position t of x [batch, time, model] is told of positions 0..t. lengths int64 [batch] on the CPU: rows beyond are
  /// padding, their result is undefined. Returns [batch, time, model].
  virtual torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& lengths, Pass& pass) = 0;
  /// The same for one more position: x [rows, model] at `position`, the state is that of the positions before; plus
  /// `residual` [rows, model] (undefined: nothing). Returns [rows, model].
  virtual torch::Tensor step(const torch::Tensor& x, MixerState& state, int64_t position,
                             const torch::Tensor& residual) = 0;
  /// Whether step() heeds MixerState::fixed: `position` is not looked at then, and the state's tensors, [rows, heads,
  /// room, ...], are made at the first step.
  virtual bool has_fixed_step() const { return false; }
};

}  // namespace nmt
