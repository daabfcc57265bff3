#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace nmt {

/// The most probable next tokens of each row, best first; tokens of equal probability by id.
struct BestTokens {
  int64_t width = 0;                     ///< tokens a row
  std::vector<int32_t> ids;              ///< [rows, width]; kNone where a row has fewer
  std::vector<float> log_probabilities;  ///< [rows, width], natural logarithm over the whole vocabulary
  static constexpr int32_t kNone = -1;
};

/// logits float32 [rows, vocabulary]. <pad>, <s> and tokens of probability 0 are never among the results.
/// On the CPU each row is a function of that row alone, in one pass over it; on CUDA which of several equally probable
/// tokens at the very end of the list is named is the device's choice.
/// Throws Error if a row is not a distribution (NaN or infinite: damaged weights).
BestTokens best_tokens(const torch::Tensor& logits, int64_t count);

}  // namespace nmt
