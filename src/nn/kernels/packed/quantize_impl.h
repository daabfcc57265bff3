#pragma once

// Part of a set of products: see packed_set.cpp, whose macros it uses.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "nn/kernels/packed/dot_impl.h"
#include "nn/kernels/products.h"
#include "nn/kernels/vector_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

inline int8_t to_int8(float x, float inverse_scale) {
  return static_cast<int8_t>(std::clamp(std::nearbyint(x * inverse_scale), -127.0f, 127.0f));
}

// What is less than this is taken for zero: 255 over it would be infinite.
constexpr float kLeastRange = 256 / FLT_MAX;

// Symmetric quantization of one output's weights: the largest is 127 units. The same arithmetic as that of the rows in
// a file (base/files/stored_weights.cpp), compiled for each set: a test compares them.
float quantize_row(const float* row, const PackedWeight& packed, int64_t output) {
  float largest = 0, nan_flag = 0;  // NaN where a weight is none
  for (int64_t k = 0; k < packed.in; ++k) {
    largest = std::max(largest, std::abs(row[k]));
    nan_flag += row[k] - row[k];
  }
  packed.scales[output] = largest / 127 + nan_flag;
  const float inverse_scale = largest > kLeastRange && nan_flag == 0 ? 127 / largest : 0;
  int32_t sum = 0;
  for (int64_t k = 0; k < packed.in; ++k) sum += to_int8(row[k], inverse_scale);
  packed.sums[output] = sum;
  return inverse_scale;
}

// The words of x of some steps.
inline void store_steps(IntVec steps, uint8_t* to) {
  if constexpr (Dot<WeightFormat::kInt8>::kParts == 1) {
    typedef uint8_t Bytes __attribute__((vector_size(kPieceLanes)));
    for (int64_t i = 0; i < kPieces; ++i)
      store_as(to + i * kPieceLanes, __builtin_convertvector(steps.piece[i], Bytes));
  } else {
    // Steps 0 and 2, then 1 and 3 of four.
    constexpr int kPairs = std::min<int>(kPieceLanes, 8) / 2;
    typedef uint64_t Pairs __attribute__((vector_size(8 * kPairs)));  // of int32
    constexpr uint64_t kLower = 0x0000ffff0000ffff;
    Pairs pairs[kLanes / 2 / kPairs];
    std::memcpy(pairs, &steps, sizeof pairs);
    [&]<int... i>(std::integer_sequence<int, i...>) {
      for (int64_t part = 0; part < kLanes / 4 / kPairs; ++part) {
        const auto even = __builtin_shufflevector(pairs[2 * part], pairs[2 * part + 1], 2 * i...);
        const auto odd = __builtin_shufflevector(pairs[2 * part], pairs[2 * part + 1], (2 * i + 1)...);
        store_as(to + part * sizeof(Pairs), Pairs{(even & kLower) | (odd & kLower) << 16});
      }
    }
    (std::make_integer_sequence<int, kPairs>());
  }
}

#ifdef __AVX512BW__
// The bytes of four vectors, in fewer instructions than each alone takes.
inline void store_bytes(IntVec a, IntVec b, IntVec c, IntVec d, uint8_t* to) {
  const auto words = [](IntVec low, IntVec high) {
    return _mm512_packs_epi32(bits_as<__m512i>(low), bits_as<__m512i>(high));
  };
  const auto bytes =
      bits_as<IntVec::Register>(_mm512_packus_epi16(words(a, b), words(c, d)));  // four of each, then the next
  store_as(to, __builtin_shufflevector(bytes, bytes, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
}
#endif

// Affine quantization of a row of x: 0 is one of the 256 steps, and what a ReLU has made positive has all of them.
RowScale quantize(const float* x, int64_t in, uint8_t* to) {
  Vec low = {}, high = {}, nan_flag = {};
  const auto take = [&](const float* from) {
    const Vec v = load(from);
    low = lesser(v, low);
    high = greater(v, high);
    nan_flag += v * 0;
  };
  const int64_t whole = in / kLanes * kLanes;
  float rest[kLanes] = {};
  if (whole < in) {
    std::copy(x + whole, x + in, rest);
    take(rest);
  }
  for (int64_t k = 0; k < whole; k += kLanes) take(x + k);
  const float lowest = -max_lanes(-low), range = max_lanes(high) - lowest;
  const float scale = range / 255, inverse = range > kLeastRange ? 255 / range : 0;
  const float zero = std::nearbyint(-lowest * inverse);
  const int32_t offset = kWideSteps ? static_cast<int32_t>(zero) : Dot<WeightFormat::kInt8>::kOffset;
  constexpr int64_t kParts = Dot<WeightFormat::kInt8>::kParts;
  const auto steps = [&](const float* from) {
    const Vec v = load(from) * all(inverse) + all(zero + 0.5f);  // never negative: rounded by cutting off
    return each<int32_t>([&](auto x) { return __builtin_convertvector(x, IntVec::Register) - offset; },
                         lesser(all(255), v));
  };
  int64_t k = 0;
#ifdef __AVX512BW__
  if constexpr (kParts == 1)
    for (; k + 4 * kLanes <= whole; k += 4 * kLanes)
      store_bytes(steps(x + k), steps(x + k + kLanes), steps(x + k + 2 * kLanes), steps(x + k + 3 * kLanes), to + k);
#endif
  for (; k < whole; k += kLanes) store_steps(steps(x + k), to + k * kParts);
  if (whole < in) {
    // Beyond `in` stands the step of zero, where weights are zero too.
    uint8_t last[kLanes * kParts];
    store_steps(steps(rest), last);
    std::memcpy(to + whole * kParts, last, (words_in_row(WeightFormat::kInt8, in) * 4 - whole) * kParts);
  }
  return {scale + sum_lanes(nan_flag), static_cast<int32_t>(zero) - offset};
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
