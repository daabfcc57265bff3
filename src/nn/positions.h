#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <string>

namespace nmt {

enum class Sinusoid {
  kInterleaved,  ///< even features sin, odd cos, pairs share a frequency (Vaswani et al. 2017, sec. 3.5)
  kHalfSplit,    ///< first half sin, second half cos, the same frequencies
};

/// Rows `first` .. `first + count - 1` of the sinusoid table, [count, model] float32, positions from 0, computed in
/// double: angle(position, pair) = position / 10000^(2 pair / model).
torch::Tensor sinusoid_table(int64_t first, int64_t count, int64_t model, Sinusoid variant);

/// What is added to embeddings so that order shows.
class PositionsImpl : public torch::nn::Module {
 public:
  /// Rows `first` .. `first + count - 1`, [count, model] float32.
  virtual torch::Tensor rows(int64_t first, int64_t count) = 0;
};

/// kind: sinusoidal | learned | none (nullptr). Learned: max_positions rows; a longer sentence is an Error.
std::shared_ptr<PositionsImpl> make_positions(const std::string& kind, const std::string& sinusoid, int64_t model,
                                              int64_t max_positions);

}  // namespace nmt
