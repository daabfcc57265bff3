#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"

namespace nmt {

constexpr int64_t kFloatBytes = 4;  ///< weights, statistics, states of recurrent cells

/// A batch as memory sees it: padded tokens.
struct BatchShape {
  int64_t rows = 0;                ///< sentence pairs
  int64_t source = 0, target = 0;  ///< tokens of the widest
};

/// What computes, as far as it decides what is kept.
struct ComputePlace {
  bool host = true;           ///< the CPU's kernels, which draw dropout masks again instead of keeping them
  int64_t bytes = 4;          ///< of an activation
  bool packs_weights = true;  ///< products by the kernels of training: no copy of a weight is kept

  int64_t rounded(int64_t bytes_of_tensor) const;  ///< what a tensor takes
};

/// One part of a model, in the order of the forward pass.
struct PartActivations {
  std::string name;      ///< that its parameters begin with: encoder_0
  int64_t kept = 0;      ///< bytes from its forward pass to its backward pass
  int64_t forward = 0;   ///< beyond `kept`, while it runs forward
  int64_t backward = 0;  ///< beyond `kept`, while it runs backward, without the gradients of its parameters
  int64_t late = 0;      ///< kept of the backward pass until its very end
};

/// Adds up tensors of a part.
class TensorSum {
 public:
  explicit TensorSum(const ComputePlace& place) : place_(place) {}
  /// count activations of so many elements each; bytes of an element: 0 for those of an activation.
  TensorSum& add(int64_t elements, int64_t count = 1, int64_t bytes = 0) {
    sum_ += count * place_.rounded(elements * (bytes > 0 ? bytes : place_.bytes));
    return *this;
  }
  int64_t bytes() const { return sum_; }

 private:
  const ComputePlace& place_;
  int64_t sum_ = 0;
};

}  // namespace nmt
