#pragma once

#include <torch/types.h>

#include <mutex>
#include <string>

namespace nmt {

/// Forms of the sinusoids of a position; pair = k / 2 (interleaved) or the place of k in its half, d = features.
enum class Sinusoid {
  kInterleaved,   ///< even k sin, odd k cos of position / 10000^(2 pair / d) (Vaswani et al. 2017, sec. 3.5)
  kHalfSplit,     ///< first half sin, second half cos of the same angles
  kHalfSplitT2t,  ///< the same with position / 10000^(pair / (d/2 - 1)), as in Tensor2Tensor
  kDoubled,       ///< interleaved with twice the paper's exponent: position / 10000^(4 pair / d)
  kLegacyRaw,     ///< interleaved with position / 10000^(2k / d): pairs share no frequency (Kyubyong 2017)
};
Sinusoid parse_sinusoid(const std::string& name);  ///< throws Error naming the choices

/// Rows `first` .. `first + count - 1` of the sinusoid table, [count, features] float32, positions from 0, computed in
/// double. `first` may be negative: distances have signs.
torch::Tensor sinusoid_table(int64_t first, int64_t count, int64_t features, Sinusoid variant);

/// Rows of a sinusoid table that is kept and grows with what is asked for. Thread-safe.
class SinusoidRows {
 public:
  SinusoidRows(int64_t features, Sinusoid variant) : features_(features), variant_(variant) {}
  torch::Tensor rows(int64_t first, int64_t count);  ///< as sinusoid_table()

 private:
  int64_t features_, first_ = 0;
  Sinusoid variant_;
  std::mutex mutex_;
  torch::Tensor table_;  // rows first_ .. first_ + size - 1
};

}  // namespace nmt
