#pragma once

#include <torch/types.h>

#include <cstdint>

namespace nmt {

/// A matrix or table of weights to be filled, float32; of no memory while a ParameterLimit lives. Throws
/// ParameterLimit::Exceeded, before any memory is taken.
torch::Tensor empty_parameter(at::IntArrayRef sizes);

/// While it lives, the parameters that this thread makes by empty_parameter() may have `elements` elements together:
/// who builds a network for weights that exist knows how many there are, and a wrong description asks for no memory.
/// These parameters have sizes and no memory of their own: the weights that exist are put in their place.
class ParameterLimit {
 public:
  struct Exceeded {};

  explicit ParameterLimit(int64_t elements);
  ~ParameterLimit();
  ParameterLimit(const ParameterLimit&) = delete;
};

}  // namespace nmt
