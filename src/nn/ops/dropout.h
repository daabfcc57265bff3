#pragma once

#include <torch/types.h>

#include "nn/ops/forward_context.h"

namespace nmt {

/// Inverted dropout (Srivastava et al. 2014): each element is zero with probability p, else divided by 1 - p.
/// On the CPU the mask is a function of (the pass's key of this site, element index): made again in the backward pass,
/// never stored, the same for every number of threads. Elsewhere the device's generator, seeded by the trainer for each
/// pass. x unchanged outside training or for p = 0.
torch::Tensor dropout(const torch::Tensor& x, double p, ForwardContext& pass);

/// dropout(relu(x)), one pass over memory each way; the backward pass needs nothing but the result.
torch::Tensor relu_dropout(const torch::Tensor& x, double p, ForwardContext& pass);

/// residual + dropout(x), one pass over memory. Shapes and types equal.
torch::Tensor add_dropped(const torch::Tensor& residual, const torch::Tensor& x, double p, ForwardContext& pass);

}  // namespace nmt
