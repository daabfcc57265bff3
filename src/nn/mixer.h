#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <vector>

#include "nn/pass.h"

namespace nmt {

/// What a mixer remembers of the hypotheses of a search: tensors with one row a hypothesis. Empty before the first
/// step.
struct MixerState {
  std::vector<torch::Tensor> tensors;  ///< each [rows, ...]

  /// New row r continues old row rows[r]: int64 [new rows], on the CPU.
  void select(const torch::Tensor& rows) {
    for (auto& tensor : tensors) tensor = tensor.index_select(0, rows.to(tensor.device()));
  }
};

/// How a decoder block tells a position of those before it: self-attention, or what stands in its place.
class Mixer : public torch::nn::Module {
 public:
  /// Position t of x [batch, time, model] is told of positions 0..t. lengths int64 [batch] on the CPU: rows beyond are
  /// padding, their result is undefined. Returns [batch, time, model].
  virtual torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& lengths, Pass& pass) = 0;
  /// The same for one more position: x [rows, model] at `position`, the state is that of the positions before. Returns
  /// [rows, model].
  virtual torch::Tensor step(const torch::Tensor& x, MixerState& state, int64_t position) = 0;
};

}  // namespace nmt
