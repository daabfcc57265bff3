#pragma once

#include <ATen/ops/cat.h>
#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "nn/decode/row_positions.h"
#include "nn/decode/step_history.h"
#include "nn/ops/forward_context.h"

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
  std::vector<torch::Tensor> tensors;                 ///< each [rows, ...], one row a hypothesis
  std::shared_ptr<const FixedPlace> fixed = nullptr;  ///< then tensors are changed in place after the first step
  StepHistory history;                                ///< what need not move when hypotheses do

  /// New row r continues old row rows[r]: int64 [new rows], on the CPU.
  void select(const torch::Tensor& rows) {
    for (auto& tensor : tensors) tensor = tensor.index_select(0, rows.to(tensor.device()));
    history.select(rows);
  }
  /// Appends rows that have made no step yet. Of tensors only those that are zero before the first step may be here.
  void add_rows(int64_t count) {
    for (auto& tensor : tensors) {
      auto sizes = tensor.sizes().vec();
      sizes.front() = count;
      tensor = at::cat({tensor, tensor.new_zeros(sizes)});
    }
    history.add_rows(count);
  }
};

/// How a decoder block tells a position of those before it: self-attention, or what stands in its place.
class Mixer : public torch::nn::Module {
 public:
  /// Position t of x [batch, time, model] is told of positions 0..t. lengths int64 [batch] on the CPU: rows beyond are
  /// padding, their result is undefined. Returns [batch, time, model].
  virtual torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& lengths, ForwardContext& pass) = 0;
  /// The same for one more position: x [rows, model] at `positions`, the state is that of the positions before; plus
  /// `residual` [rows, model] (undefined: nothing). Returns [rows, model].
  virtual torch::Tensor step(const torch::Tensor& x, MixerState& state, const RowPositions& positions,
                             const torch::Tensor& residual) = 0;
  /// Whether the rows of a step, where the kernels of decoding take it, may stand at different positions.
  virtual bool takes_any_positions() const { return true; }
  /// Whether step() heeds MixerState::fixed: `positions` are not looked at then, and the state's tensors, [rows, heads,
  /// room, ...], are made at the first step.
  virtual bool has_fixed_step() const { return false; }
};

}  // namespace nmt
