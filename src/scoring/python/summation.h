#pragma once

#include <span>

namespace nmt::scoring {

/// sum() of Python 3.12 and later over floats: compensated (Neumaier 1974).
double compensated_sum(std::span<const double> values);

/// numpy.mean of a contiguous array: pairwise summation in the type of the elements.
double pairwise_mean(std::span<const double> values);
float pairwise_mean(std::span<const float> values);

/// math.fsum of Python: the exact sum, rounded once. values: finite, none negative.
double exact_sum(std::span<const double> values);

/// statistics.mean of Python: the exact mean, rounded once. values: finite, none negative, at least one.
double exact_mean(std::span<const double> values);

}  // namespace nmt::scoring
