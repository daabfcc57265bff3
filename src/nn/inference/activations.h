#pragma once

#include <cstdint>

#include "config/kinds.h"

namespace nmt {

/// kGeluTanh: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), an approximation of kGelu (Hendrycks and Gimpel 2016).
enum class Activation { kNone, kRelu, kGelu, kGeluTanh, kSwish, kSigmoid };

/// The element-wise function of a feed-forward net; of the gated ones that of the gate: swiglu has swish, geglu gelu.
Activation activation_of(FeedForwardActivation activation);
Activation activation_of(ProjectionActivation activation);

namespace inference {

/// y[i] = activation(x[i]) for i in [0, count); y may be x. An element's result does not depend on where it stands:
/// vector libraries compute whole vectors and what is left over by different functions.
void activate(Activation activation, const float* x, float* y, int64_t count);

}  // namespace inference
}  // namespace nmt
