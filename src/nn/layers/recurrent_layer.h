#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <vector>

#include "nn/layers/recurrent_cell.h"

namespace nmt {

/// A layer of an encoder: a cell that reads a sentence forwards, and another that reads it backwards if bidirectional
/// (Schuster and Paliwal 1997). States do not change beyond a sentence's end, so the backward cell starts at its true
/// last word.
class RecurrentLayerImpl : public torch::nn::Module {
 public:
  RecurrentLayerImpl(kernels::Cell kind, int64_t input, int64_t size, bool bidirectional);

  struct Output {
    torch::Tensor states;         ///< [time, batch, directions * size], in x's type
    std::vector<CellState> last;  ///< of each direction: after a sentence's last word, after its first one
  };
  /// x [time, batch, input]; lengths int64 [batch] on the CPU.
  Output forward(const torch::Tensor& x, const torch::Tensor& lengths);

 private:
  std::vector<RecurrentCell> cells_;
};
TORCH_MODULE(RecurrentLayer);

}  // namespace nmt
