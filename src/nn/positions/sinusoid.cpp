#include "nn/positions/sinusoid.h"

#include <algorithm>
#include <cmath>

namespace nmt {
namespace {

// The exponent of 10000 under the position of feature k.
double exponent(int64_t k, int64_t features, Sinusoid variant) {
  const double size = static_cast<double>(features);
  const int64_t half = (features + 1) / 2;
  switch (variant) {
    case Sinusoid::kInterleaved:
      return 2.0 * static_cast<double>(k / 2) / size;
    case Sinusoid::kHalfSplit:
      return 2.0 * static_cast<double>(k % half) / size;
    case Sinusoid::kHalfSplitT2t:
      return static_cast<double>(k % half) / static_cast<double>(std::max<int64_t>(half - 1, 1));
    case Sinusoid::kDoubled:
      return 4.0 * static_cast<double>(k / 2) / size;
    case Sinusoid::kLegacyRaw:
      return 2.0 * static_cast<double>(k) / size;
  }
  return 0;
}

}  // namespace

torch::Tensor sinusoid_table(int64_t first, int64_t count, int64_t features, Sinusoid variant) {
  const bool halves = variant == Sinusoid::kHalfSplit || variant == Sinusoid::kHalfSplitT2t;
  auto table = torch::empty({count, features}, torch::kFloat32);
  auto values = table.accessor<float, 2>();
  for (int64_t k = 0; k < features; ++k) {
    const bool sine = halves ? k < (features + 1) / 2 : k % 2 == 0;
    const double period = std::pow(10000.0, exponent(k, features, variant));
    for (int64_t row = 0; row < count; ++row) {
      const double angle = static_cast<double>(first + row) / period;
      values[row][k] = static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

torch::Tensor SinusoidRows::rows(int64_t first, int64_t count) {
  const std::lock_guard lock(mutex_);
  const int64_t end = table_.defined() ? first_ + table_.size(0) : 0;
  if (!table_.defined() || first < first_ || first + count > end) {
    first_ = std::min(first_, 2 * first);
    table_ = sinusoid_table(first_, std::max<int64_t>({256, end, 2 * (first + count)}) - first_, features_, variant_);
  }
  return table_.narrow(0, first - first_, count);
}

}  // namespace nmt
