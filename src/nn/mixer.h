#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <vector>

#include "nn/pass.h"
#include "nn/step_history.h"

namespace nmt {

/// What a mixer remembers of the hypotheses of a search. Empty before the first step.
struct MixerState {
  std::vector<torch::Tensor> tensors;  ///< each [rows, ...], one row a hypothesis
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
};

}  // namespace nmt
