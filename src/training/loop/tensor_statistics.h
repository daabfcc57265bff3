#pragma once

#include <vector>

#include "models/interface/safetensors.h"
#include "report/records/training_observer.h"

namespace nmt {

/// The norms of parameters and of their gradients by group, in the order of the parameters. A group is the first part
/// of a name: encoder_0, embedding. A parameter without gradient adds nothing to that norm.
std::vector<GroupNorm> group_norms(const NamedTensors& parameters);

/// weights/NAME and gradients/NAME of each parameter, in 30 buckets of equal width. Left out: a tensor with a value
/// that is not finite, and a gradient that is not there.
std::vector<TensorHistogram> tensor_histograms(const NamedTensors& parameters);

}  // namespace nmt
