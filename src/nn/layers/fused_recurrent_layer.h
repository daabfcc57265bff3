#pragma once

#include <torch/types.h>

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
/// after each step. One layer at a time: cuDNN's dropout between layers goes on from call to call, ours is a function
/// of seed, update and micro-batch.
/// x [time, batch, input]; lengths int64 [batch] on the CPU; directions: forwards, and backwards where there is one.
RecurrentOutput fused_recurrent_layer(kernels::Cell kind, const torch::Tensor& x, const torch::Tensor& lengths,
                                      std::span<const RecurrentWeights> directions);

}  // namespace nmt
