#pragma once

// Part of a set of products for ARM64: see packed_set.cpp. Which instructions there are depends on the level
// that the file is compiled for (arm_level.h).
#include <arm_neon.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "nn/kernels/packed/word_vectors_impl.h"
#include "nn/kernels/products.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

static_assert(kWidth == 4);

// sum + the four products of bytes in each lane. x: uint8, less kNeonOffset; weights: int8, not -128.
#ifdef __ARM_FEATURE_MATMUL_INT8
constexpr int32_t kNeonOffset = 0;
inline Ints neon_dot(Ints sum, Words x, Words weights) {
  return bits_as<Ints>(vusdotq_s32(bits_as<int32x4_t>(sum), bits_as<uint8x16_t>(x), bits_as<int8x16_t>(weights)));
}
#else
// Both factors have one sign here: x is taken as int8.
constexpr int32_t kNeonOffset = 128;
inline Ints neon_dot(Ints sum, Words x, Words weights) {
  const auto left = bits_as<int8x16_t>(x), right = bits_as<int8x16_t>(weights);
#ifdef __ARM_FEATURE_DOTPROD
  return bits_as<Ints>(vdotq_s32(bits_as<int32x4_t>(sum), left, right));
#else
  // Two products fit 16 bits: no more than 2 * 128 * 127.
  const int16x8_t low = vmull_s8(vget_low_s8(left), vget_low_s8(right)), high = vmull_high_s8(left, right);
  return bits_as<Ints>(vpadalq_s16(bits_as<int32x4_t>(sum), vpaddq_s16(low, high)));
#endif
}
#endif

// Whether tiles of so many rows are multiplied as matrices: two rows of two words of x by two outputs of two words of
// weights. int8 has exact sums, so a row alone can do without. For bfloat16 Arm's manuals differ on the order in which
// the instruction adds. All rows take it there: so each has the same bits alone and in any batch.
constexpr bool takes_matrices(WeightFormat format, int64_t rows) {
#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
  if (format == WeightFormat::kBfloat16) return true;
#endif
#ifdef __ARM_FEATURE_MATMUL_INT8
  if (format == WeightFormat::kInt8) return rows > 1;
#endif
  return false;
}

#ifdef __ARM_FEATURE_MATMUL_INT8
inline Ints neon_matrix(Ints sums, Words x, Words weights) {
  return bits_as<Ints>(vusmmlaq_s32(bits_as<int32x4_t>(sums), bits_as<uint8x16_t>(x), bits_as<int8x16_t>(weights)));
}
#endif
#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
inline Floats neon_matrix(Floats sums, Words x, Words weights) {
  return bits_as<Floats>(
      vbfmmlaq_f32(bits_as<float32x4_t>(sums), bits_as<bfloat16x8_t>(x), bits_as<bfloat16x8_t>(weights)));
}
#endif

// Adds to kRows rows of kVecs vectors the products of some words: x [rows, row_words], panel [row_words, kPanel].
// `ahead` is fetched meanwhile, a cache line a word.
template <typename Sum, int64_t kRows, int64_t kVecs>
inline void add_matrices(Sum (&sums)[kRows][kVecs], const char* x, int64_t row_words, const uint32_t* panel,
                         Range words, const uint32_t* ahead) {
  constexpr int64_t kPairs = (kRows + 1) / 2;
  // Rows 2i and 2i + 1 of two outputs each. The last row is its own partner where their number is odd.
  const auto row = [](int64_t i, int64_t half) { return std::min(2 * i + half, kRows - 1); };
  Sum squares[kPairs][2 * kVecs];
  for (int64_t i = 0; i < kPairs; ++i)
    for (int64_t v = 0; v < kVecs; ++v) {
      const Sum upper = sums[row(i, 0)][v], lower = sums[row(i, 1)][v];
      squares[i][2 * v] = __builtin_shufflevector(upper, lower, 0, 1, 4, 5);
      squares[i][2 * v + 1] = __builtin_shufflevector(upper, lower, 2, 3, 6, 7);
    }
  // One word or two; instead of the second are zeros.
  const auto add = [&](int64_t k, auto count) {
    __builtin_prefetch(ahead + k * (kPanel / 4), 0, 2);
    if constexpr (count == 2) __builtin_prefetch(ahead + (k + 1) * (kPanel / 4), 0, 2);
    Words left[kPairs];
    for (int64_t i = 0; i < kPairs; ++i) {
      uint64_t halves[2] = {};
      for (int64_t half = 0; half < 2; ++half)
        std::memcpy(&halves[half], x + (row(i, half) * row_words + k) * 4, count * 4);
      left[i] = bits_as<Words>(vcombine_u64(vcreate_u64(halves[0]), vcreate_u64(halves[1])));
    }
    for (int64_t v = 0; v < kVecs; ++v) {
      const auto first = load_as<Words>(panel + k * kPanel + v * kWidth);
      const auto second = count == 2 ? load_as<Words>(panel + (k + 1) * kPanel + v * kWidth) : Words{};
      const Words weights[2] = {__builtin_shufflevector(first, second, 0, 4, 1, 5),
                                __builtin_shufflevector(first, second, 2, 6, 3, 7)};
      for (int64_t i = 0; i < kPairs; ++i)
        for (int64_t j = 0; j < 2; ++j) squares[i][2 * v + j] = neon_matrix(squares[i][2 * v + j], left[i], weights[j]);
    }
  };
  int64_t k = words.begin;
  for (; k + 2 <= words.end; k += 2) add(k, std::integral_constant<int64_t, 2>());
  if (k < words.end) add(k, std::integral_constant<int64_t, 1>());
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t v = 0; v < kVecs; ++v) {
      const Sum left = squares[r / 2][2 * v], right = squares[r / 2][2 * v + 1];
      sums[r][v] = r % 2 == 0 ? __builtin_shufflevector(left, right, 0, 1, 4, 5)
                              : __builtin_shufflevector(left, right, 2, 3, 6, 7);
    }
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
