#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <optional>
#include <vector>

#include "nn/layers/fused_recurrent_layer.h"
#include "nn/layers/recurrent_cell.h"

namespace nmt {

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
