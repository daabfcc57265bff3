#pragma once

#include <torch/types.h>

#include <string>

namespace nmt {

enum class Activation { kNone, kRelu, kGelu, kSwish, kSigmoid };

/// The activation of model.activation: none | relu | gelu | swish, and of the gated ones that of the gate: swiglu =
/// swish, geglu = gelu. Throws Error naming the choices.
Activation parse_activation(const std::string& name);
/// Whether model.activation asks for a gated feed-forward net.
bool is_gated(const std::string& name);

/// Element by element, any shape. While gradients are off, float32 on the CPU: an element's result does not depend on
/// where it stands, so that a sentence is translated the same alone and in a batch.
torch::Tensor activate(const torch::Tensor& x, Activation activation);

}  // namespace nmt
