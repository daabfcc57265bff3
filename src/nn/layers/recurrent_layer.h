#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <optional>
#include <span>
#include <vector>

#include "nn/layers/recurrent_cell.h"

namespace nmt {

struct RecurrentOutput {
  torch::Tensor states;         ///< [time, batch, directions * size], in the input's type
  std::vector<CellState> last;  ///< of each direction: after a sentence's last word, after its first one
};

/// A recurrent layer by LibTorch's own function of it (at::gru, at::lstm, at::rnn_tanh), which is one call of cuDNN on
/// CUDA: the same states as a loop over RecurrentCell, but rows of padding are 0, and in 16 bits the state is rounded
/// after each step. One layer at a time: cuDNN's dropout between layers continues from call to call, ours is a function
/// of seed, update and micro-batch.
/// x [time, batch, input]; lengths int64 [batch] on the CPU; directions: forwards, and backwards where there is one.
RecurrentOutput fused_recurrent_layer(kernels::Cell kind, const torch::Tensor& x, const torch::Tensor& lengths,
                                      std::span<const RecurrentWeights> directions);

/// A layer of an encoder: a cell that reads a sentence forwards, and another that reads it backwards if bidirectional
/// (Schuster and Paliwal 1997). States do not change beyond a sentence's end, so the backward cell starts at its true
/// last word. What stands in rows of padding means nothing.
class RecurrentLayerImpl : public torch::nn::Module {
 public:
  RecurrentLayerImpl(kernels::Cell kind, int64_t input, int64_t size, bool bidirectional);

  using Output = RecurrentOutput;
  /// x [time, batch, input]; lengths int64 [batch] on the CPU. By fused_recurrent_layer where the device has it
  /// (DeviceCapabilities::recurrent_layers), else by the cells, step by step.
  Output forward(const torch::Tensor& x, const torch::Tensor& lengths);

  /// From now on one way or the other, whatever the device has: for tests.
  void set_fused(bool fused) { fused_ = fused; }

 private:
  Output run_fused(const torch::Tensor& x, const torch::Tensor& lengths);
  Output run_cells(const torch::Tensor& x, const torch::Tensor& lengths);

  kernels::Cell kind_;
  std::vector<RecurrentCell> cells_;
  std::optional<bool> fused_;  // nullopt: as the device has it
};
TORCH_MODULE(RecurrentLayer);

}  // namespace nmt
