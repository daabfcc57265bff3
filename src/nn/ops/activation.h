#pragma once

#include <torch/types.h>

#include "nn/inference/activations.h"

namespace nmt {

/// Element by element, any shape. While gradients are off, float32 on the CPU: an element's result does not depend on
/// where it stands, so that a sentence is translated the same alone and in a batch.
torch::Tensor activate(const torch::Tensor& x, Activation activation);

/// What follows a map while the result is at hand: activation(x weightᵀ + bias) + residual.
struct Epilogue {
  Activation activation = Activation::kNone;
  torch::Tensor residual = {};  ///< of the result's shape and type, or undefined

  torch::Tensor apply(const torch::Tensor& y) const;
};

}  // namespace nmt
