#pragma once

#include <torch/types.h>

#include "config/kinds.h"

namespace nmt {

/// kGeluTanh: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), an approximation of kGelu (Hendrycks and Gimpel 2016).
enum class Activation { kNone, kRelu, kGelu, kGeluTanh, kSwish, kSigmoid };

/// The element-wise function of a feed-forward net; of the gated ones that of the gate: swiglu has swish, geglu gelu.
Activation activation_of(FeedForwardActivation activation);
Activation activation_of(ProjectionActivation activation);

/// Element by element, any shape. While gradients are off, float32 on the CPU: an element's result does not depend on
/// where it stands, so that a sentence is translated the same alone and in a batch.
torch::Tensor activate(const torch::Tensor& x, Activation activation);

}  // namespace nmt
