#pragma once

// Part of a kernel set: see kernel_set.cpp.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "nn/kernels/kernels.h"
#include "nn/kernels/vector_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// Sum of term(x) over a row, where term takes a piece of a vector; what lies beyond n is taken as `beyond`.
template <typename Term>
inline float sum_of(const float* x, int64_t n, float beyond, Term&& term) {
  Vec sums = {};
  const auto add = [&](const float* from) {
    for (int64_t i = 0; i < kPieces; ++i) sums.piece[i] += term(load_piece(from + i * kPieceLanes));
  };
  const int64_t whole = n / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) add(x + i);
  if (whole < n) {
    float rest[kLanes];
    std::fill_n(rest, kLanes, beyond);
    std::copy(x + whole, x + n, rest);
    add(rest);
  }
  return sum_lanes(sums);
}

void normalise(const NormRows& s, Range rows) {
  const int64_t n = s.size;
  const float count = static_cast<float>(n);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const float* x = s.x + r * n;
    float* y = s.y + r * n;
    const float mean = s.bias ? sum_of(x, n, 0, [](Piece v) { return v; }) / count : 0;
    const float squares = sum_of(x, n, mean, [&](Piece v) { return (v - piece_of(mean)) * (v - piece_of(mean)); });
    const float inverse = 1 / std::sqrt(squares / count + s.epsilon);
    if (s.bias) {
      for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inverse * s.weight[i] + s.bias[i];
    } else {
      for (int64_t i = 0; i < n; ++i) y[i] = x[i] * inverse * s.weight[i];
    }
  }
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
