#pragma once

// Part of a set of products: see packed_set.cpp, whose macros it uses.
#include <cstdint>

#include "nn/kernels/instruction_set.h"
#include "nn/kernels/packed/word_vectors_impl.h"
#include "nn/kernels/products.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#ifdef NMT_PACKED_NEON
#include "nn/kernels/packed/neon_impl.h"
#else
namespace nmt::kernels::NMT_KERNEL_SET {
namespace {
constexpr bool takes_matrices(WeightFormat, int64_t) { return false; }
}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
#endif

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// In each lane the sum of two products of int16.
[[maybe_unused]] inline Ints pair_products(Words x, Words weights) {
#ifndef __x86_64__
  const auto left = bits_as<Ints>(x), right = bits_as<Ints>(weights);
  return (left << 16 >> 16) * (right << 16 >> 16) + (left >> 16) * (right >> 16);
#elif NMT_PACKED_WIDTH == 16
  return reinterpret_cast<Ints>(_mm512_madd_epi16(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(weights)));
#elif NMT_PACKED_WIDTH == 8
  return reinterpret_cast<Ints>(_mm256_madd_epi16(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(weights)));
#else
  return reinterpret_cast<Ints>(_mm_madd_epi16(reinterpret_cast<__m128i>(x), reinterpret_cast<__m128i>(weights)));
#endif
}

// What a format makes of a word of x in all lanes and a vector of words of weights. Where kParts is not 1, a word of
// weights is taken apart by part(), and each part has its own word of x.
template <WeightFormat>
struct Dot;

template <>
struct Dot<WeightFormat::kFloat32> {
  using Sum = Floats;
  static constexpr int64_t kParts = 1;
  static Words part(Words weights, int64_t) { return weights; }
  static Floats add(Floats sum, Words x, Words weights) { return sum + bits_as<Floats>(x) * bits_as<Floats>(weights); }
};

template <>
struct Dot<WeightFormat::kBfloat16> {
  using Sum = Floats;
#ifdef __AVX512BF16__
  static constexpr int64_t kParts = 1;
  static Words part(Words weights, int64_t) { return weights; }
  static Floats add(Floats sum, Words x, Words weights) {
    return bits_as<Floats>(_mm512_dpbf16_ps(bits_as<__m512>(sum), bits_as<__m512bh>(x), bits_as<__m512bh>(weights)));
  }
#elif defined(NMT_PACKED_NEON) && defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
  static constexpr int64_t kParts = 1;  // add_matrices() does the rest
#else
  // Without the instruction: two products in float32, of weights that still take half of the memory to read.
  static constexpr int64_t kParts = 2;
  static Words part(Words weights, int64_t part) { return part == 0 ? weights << 16 : weights & 0xffff0000u; }
  static Floats add(Floats sum, Words x, Words weights) { return sum + bits_as<Floats>(x) * bits_as<Floats>(weights); }
#endif
};

template <>
struct Dot<WeightFormat::kInt8> {
  using Sum = Ints;
#ifdef NMT_PACKED_NEON
  static constexpr int32_t kOffset = kNeonOffset;  // what prepare() takes from the steps of x
#else
  static constexpr int32_t kOffset = 0;
#endif
#if defined(NMT_PACKED_NEON) || defined(__AVX512VNNI__) || defined(__AVXVNNI__)
  static constexpr int64_t kParts = 1;
  static Words part(Words weights, int64_t) { return weights; }
  static Ints add(Ints sum, Words x, Words weights) {
#if defined(NMT_PACKED_NEON)
    return neon_dot(sum, x, weights);
#elif NMT_PACKED_WIDTH == 16
    return bits_as<Ints>(_mm512_dpbusd_epi32(bits_as<__m512i>(sum), bits_as<__m512i>(x), bits_as<__m512i>(weights)));
#elif defined(__AVXVNNI__)
    return bits_as<Ints>(
        _mm256_dpbusd_avx_epi32(bits_as<__m256i>(sum), bits_as<__m256i>(x), bits_as<__m256i>(weights)));
#else
    return bits_as<Ints>(_mm256_dpbusd_epi32(bits_as<__m256i>(sum), bits_as<__m256i>(x), bits_as<__m256i>(weights)));
#endif
  }
#else
  // Without the instruction: two products of int16, of the bytes 0 and 2 and of 1 and 3. (A product of bytes,
  // PMADDUBSW, would ask for the sign of each x in the weights first, and for a second step from 16 to 32 bits: no
  // fewer steps.)
  static constexpr int64_t kParts = 2;
  typedef int16_t HalfWords __attribute__((vector_size(4 * kWidth)));
  static Words part(Words weights, int64_t part) {
    const auto halves = bits_as<HalfWords>(weights);
    return bits_as<Words>((part == 0 ? halves << 8 : halves) >> 8);
  }
  static Ints add(Ints sum, Words x, Words weights) { return sum + pair_products(x, weights); }
#endif
};

// Whether a step of x has 16 bits: then the row's zero is taken from it, and products need no correction.
constexpr bool kWideSteps = Dot<WeightFormat::kInt8>::kParts > 1;

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
