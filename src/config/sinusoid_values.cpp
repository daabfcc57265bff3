#include "config/sinusoid_values.h"

#include <algorithm>
#include <cmath>

namespace nmt {
namespace {

/// The exponent of 10000 in the period of feature k.
double exponent(Sinusoid form, int64_t k, int64_t features) {
  const double size = static_cast<double>(features);
  const int64_t half = (features + 1) / 2;
  switch (form) {
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

std::vector<float> sinusoid_values(Sinusoid form, int64_t first, int64_t count, int64_t features) {
  const bool halves = form == Sinusoid::kHalfSplit || form == Sinusoid::kHalfSplitT2t;
  std::vector<float> values(static_cast<size_t>(count * features));
  for (int64_t k = 0; k < features; ++k) {
    const bool sine = halves ? k < (features + 1) / 2 : k % 2 == 0;
    const double period = std::pow(10000.0, exponent(form, k, features));
    for (int64_t row = 0; row < count; ++row) {
      const double angle = static_cast<double>(first + row) / period;
      values[row * features + k] = static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return values;
}

}  // namespace nmt
