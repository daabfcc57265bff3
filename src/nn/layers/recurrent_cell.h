#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "config/kinds.h"
#include "nn/kernels/recurrent.h"
#include "nn/ops/initial_values.h"
#include "nn/ops/linear.h"

namespace nmt {

/// The kernels' name of a kind: they know no configuration.
kernels::Cell cell_of(CellKind kind);

/// What a cell hands on from step to step: float32 [rows, size].
struct CellState {
  torch::Tensor state;
  torch::Tensor cell;  ///< LSTM only
};

/// What a cell is made of: matrices [gates * size, input] and [gates * size, size], biases [gates * size], float
/// masters.
struct RecurrentWeights {
  torch::Tensor input, recurrent, input_bias, recurrent_bias;
};

/// One step of a recurrent net: with a = W x + b of the input x and g = U h + d of the state h before,
///   gru (Cho et al. 2014, reset after the product as in cuDNN): r = sigmoid(a_r + g_r), z = sigmoid(a_z + g_z),
///       n = tanh(a_n + r * g_n), h' = (1 - z) * n + z * h
///   lstm (Hochreiter and Schmidhuber 1997, with forget gates, without peepholes): i, f, o = sigmoid(a + g),
///       m = tanh(a_m + g_m), c' = f * c + i * m, h' = o * tanh(c')
///   elman (Elman 1990): h' = tanh(a + g)
/// Rows of W: gru r, z, n; lstm i, f, m, o. Products in the input's type, states in float32.
class RecurrentCellImpl : public torch::nn::Module, public HasInitialValues {
 public:
  RecurrentCellImpl(kernels::Cell kind, int64_t input, int64_t size);

  CellState zero_state(int64_t rows, torch::Device device) const;
  /// W x + b: x [..., input] -> [..., gates * size]. Over a whole sequence at once where it is known.
  torch::Tensor project(const torch::Tensor& x) { return input_(x); }
  /// One step from projected inputs [rows, gates * size]. active bool [rows] or undefined: where it is false, the state
  /// stays as it is.
  CellState advance(const torch::Tensor& projected, const CellState& before, const torch::Tensor& active = {});
  /// One step: x [rows, input].
  CellState forward(const torch::Tensor& x, const CellState& before) { return advance(project(x), before); }

  /// Fan-in is that of PyTorch's cells: uniform within 1 / sqrt(size) for the matrices and biases of both products.
  InitialValues initial_values_below(const torch::nn::Module& submodule, const InitialValues& values) const override;

  int64_t size() const { return size_; }
  RecurrentWeights weights() const { return {input_->weight, recurrent_->weight, input_->bias, recurrent_->bias}; }

 private:
  kernels::Cell kind_;
  int64_t size_;
  Linear input_, recurrent_;
};
TORCH_MODULE(RecurrentCell);

/// The element-wise part of a step, fused on the CPU: gates [rows, gates * size] of input and state.
CellState cell_step(kernels::Cell kind, const torch::Tensor& input_gates, const torch::Tensor& state_gates,
                    const CellState& before, const torch::Tensor& active);
/// The same by plain tensor operations: any device; what the kernel is tested against.
CellState plain_cell_step(kernels::Cell kind, const torch::Tensor& input_gates, const torch::Tensor& state_gates,
                          const CellState& before, const torch::Tensor& active);

/// For loops over time: while it lives, every Linear below `module` multiplies by one copy of its weight in `type`, and
/// the gradient of that weight is one product over all steps, made when the last of them has been gone back through.
/// The sums are those of the plain layers. Without gradients it does nothing. One at a time for a module.
class StepwiseGradients {
 public:
  StepwiseGradients(torch::nn::Module& module, at::ScalarType type);
  ~StepwiseGradients();
  StepwiseGradients(const StepwiseGradients&) = delete;
  StepwiseGradients& operator=(const StepwiseGradients&) = delete;

 private:
  std::vector<std::shared_ptr<LinearImpl>> layers_;
};

}  // namespace nmt
