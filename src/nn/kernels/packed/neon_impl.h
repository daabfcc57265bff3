#pragma once

// Part of a set of products for ARM64: see packed_product_impl.h. Which instructions there are depends on the level
// that the file is compiled for (arm_level.h).
#include <arm_neon.h>

#include "nn/kernels/packed/word_vectors_impl.h"

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

#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
// sum + both products of bfloat16 in each lane.
inline Floats neon_dot(Floats sum, Words x, Words weights) {
  return bits_as<Floats>(
      vbfdotq_f32(bits_as<float32x4_t>(sum), bits_as<bfloat16x8_t>(x), bits_as<bfloat16x8_t>(weights)));
}
#endif

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
