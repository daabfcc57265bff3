#pragma once

// Part of a kernel set: see kernel_set.cpp.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "nn/kernels/types.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

constexpr int64_t kLanes = 16;
typedef float Vec __attribute__((vector_size(64)));
typedef int32_t IntVec __attribute__((vector_size(64)));
typedef uint32_t WordVec __attribute__((vector_size(64)));
constexpr IntVec kLaneNumbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/// The next whole number of vectors, in elements.
inline int64_t round_up(int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }
inline Vec all(float x) { return x - Vec{}; }

// bfloat16 as floats: three vectors of as many numbers.
template <typename Floats, typename Ints, typename HalfWords>
inline Floats load_bfloat16(const uint16_t* p) {
  HalfWords upper;
  std::memcpy(&upper, p, sizeof upper);
  const Ints bits = __builtin_convertvector(upper, Ints) << 16;
  Floats v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

// A register of this instruction set. A wider vector the compiler keeps in memory from one turn of a loop to the next,
// and it compares and chooses its numbers one by one.
#if defined(__AVX512F__)
constexpr int64_t kPieceLanes = 16;
#elif defined(__AVX__)
constexpr int64_t kPieceLanes = 8;
#else
constexpr int64_t kPieceLanes = 4;
#endif
constexpr int64_t kPieces = kLanes / kPieceLanes;  // of a Vec
typedef float Piece __attribute__((vector_size(4 * kPieceLanes)));

template <typename Number>
struct Pieces {
  typedef Number OfNumbers __attribute__((vector_size(4 * kPieceLanes)));
  OfNumbers piece[kPieces];
};
template <typename Number, typename Wide>
inline Pieces<Number> pieces_of(Wide v) {
  Pieces<Number> pieces;
  std::memcpy(&pieces, &v, sizeof v);
  return pieces;
}

inline Vec joined(const Piece (&pieces)[kPieces]) {
  Vec v;
  std::memcpy(&v, &pieces, sizeof v);
  return v;
}

// In each lane `yes` where compare(a, b) is true, else `no`. Number: that of a and b.
template <typename Number = float, typename Compare, typename Wide>
__attribute__((always_inline)) inline Vec choose(Compare compare, Wide a, Wide b, Vec yes, Vec no) {
  const auto left = pieces_of<Number>(a), right = pieces_of<Number>(b);
  auto chosen = pieces_of<float>(yes);
  const auto others = pieces_of<float>(no);
  for (int64_t i = 0; i < kPieces; ++i)
    chosen.piece[i] = compare(left.piece[i], right.piece[i]) ? chosen.piece[i] : others.piece[i];
  Vec result;
  std::memcpy(&result, &chosen, sizeof result);
  return result;
}
constexpr auto kLess = [](auto a, auto b) { return a < b; };
constexpr auto kEqual = [](auto a, auto b) { return a == b; };
// Each lane of op(a, b), register by register: of a comparison and what it compares the compiler makes one instruction.
template <typename Op>
__attribute__((always_inline)) inline Vec by_pieces(Vec a, Vec b, Op op) {
  auto left = pieces_of<float>(a);
  const auto right = pieces_of<float>(b);
  for (int64_t i = 0; i < kPieces; ++i) left.piece[i] = op(left.piece[i], right.piece[i]);
  Vec result;
  std::memcpy(&result, &left, sizeof result);
  return result;
}
// b where one is NaN.
inline Vec lesser(Vec a, Vec b) {
  return by_pieces(a, b, [](auto x, auto y) { return x < y ? x : y; });
}
inline Vec greater(Vec a, Vec b) {
  return by_pieces(a, b, [](auto x, auto y) { return x > y ? x : y; });
}

inline Piece load_piece(const float* p) {
  Piece v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline Piece load_piece(const uint16_t* p) {
  typedef int32_t Ints __attribute__((vector_size(4 * kPieceLanes)));
#ifdef __AVX512F__
  // The compiler widens each half of the register by itself. (With a mask of all, as it warns of the other's insides.)
  __m256i upper;
  std::memcpy(&upper, p, sizeof upper);
  return reinterpret_cast<Piece>(reinterpret_cast<Ints>(_mm512_maskz_cvtepu16_epi32(0xffff, upper)) << 16);
#else
  typedef uint16_t HalfWords __attribute__((vector_size(2 * kPieceLanes)));
  return load_bfloat16<Piece, Ints, HalfWords>(p);
#endif
}
inline void store_piece(float* p, Piece v) { std::memcpy(p, &v, sizeof v); }
inline Piece piece_of(float x) { return x - Piece{}; }

inline float to_float(float x) { return x; }
inline float to_float(uint16_t x) {
  const uint32_t bits = static_cast<uint32_t>(x) << 16;
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
template <typename T>
T from_float(float x);
template <>
inline float from_float<float>(float x) {
  return x;
}
template <>
inline uint16_t from_float<uint16_t>(float x) {  // to nearest, ties to even; NaN stays NaN
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>(x != x ? 0x7fc0 : rounded);
}

template <typename T>
void load_row(const T* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = to_float(from[i]);
}
template <typename T>
void store_row(const float* from, T* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = from_float<T>(from[i]);
}

// exp(x), relative error below 2e-7; 0 below about -87 (after Cephes' range reduction, own coefficients by Taylor).
__attribute__((always_inline)) inline Vec vec_exp(Vec x) {
  const Vec low = all(-87.3f), given = x;
  x = lesser(all(88.3f), greater(low, x));
  const Vec t = x * all(1.44269504f);
  // Round to nearest by the magic-number addition: valid for |t| < 2^22.
  const Vec magic = all(12582912.0f);
  const Vec n = (t + magic) - magic;
  Vec r = x - n * all(0.693359375f);
  r = r + n * all(2.12194440e-4f);
  Vec p = all(1.0f / 5040);
  p = p * r + all(1.0f / 720);
  p = p * r + all(1.0f / 120);
  p = p * r + all(1.0f / 24);
  p = p * r + all(1.0f / 6);
  p = p * r + all(0.5f);
  p = p * r + all(1.0f);
  p = p * r + all(1.0f);
  const IntVec exponent = (__builtin_convertvector(n, IntVec) + 127) << 23;
  Vec scale;
  std::memcpy(&scale, &exponent, sizeof scale);
  return choose(kLess, given, low, Vec{}, p * scale);
}

// op(a, b) of lanes 8 apart, then 4, 2 and 1: one number of all.
template <typename Op>
__attribute__((always_inline)) inline float fold_lanes(Vec v, Op op) {
  auto pieces = pieces_of<float>(v);
  for (int64_t n = kPieces / 2; n > 0; n /= 2)
    for (int64_t i = 0; i < n; ++i) pieces.piece[i] = op(pieces.piece[i], pieces.piece[i + n]);
  Piece x = pieces.piece[0];
  const auto upper = [&]<int... i>(auto width, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(x, x, (i + width) % int{kPieceLanes}...);
  };
  const auto lanes = std::make_integer_sequence<int, int{kPieceLanes}>();
  if constexpr (kPieceLanes > 8) x = op(x, upper(std::integral_constant<int, 8>(), lanes));
  if constexpr (kPieceLanes > 4) x = op(x, upper(std::integral_constant<int, 4>(), lanes));
  x = op(x, upper(std::integral_constant<int, 2>(), lanes));
  return op(x, upper(std::integral_constant<int, 1>(), lanes))[0];
}
inline float sum_lanes(Vec v) {
  return fold_lanes(v, [](Piece a, Piece b) { return a + b; });
}
inline float max_lanes(Vec v) {
  return fold_lanes(v, [](Piece a, Piece b) { return a > b ? a : b; });
}

// Rows become columns: four times, rows i and i + 8 are put together, one number of each in turn.
inline void transpose(Vec (&v)[kLanes]) {
  for (int round = 0; round < 4; ++round) {
    Vec next[kLanes];
    for (int i = 0; i < 8; ++i) {
      next[2 * i] = __builtin_shufflevector(v[i], v[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * i + 1] =
          __builtin_shufflevector(v[i], v[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    std::copy_n(next, kLanes, v);
  }
}

// Lane j of the result is sum_lanes(v[j]), in the same order of summation.
#if defined(__AVX__) && !defined(__AVX512F__)
inline Vec sums_of_lanes(const Vec (&v)[kLanes]) {
  Piece sums[kPieces];
  for (int64_t p = 0; p < kPieces; ++p) {
    Piece half[8], quarter[4], eighth[2];
    for (int i = 0; i < 8; ++i) {
      const auto pieces = pieces_of<float>(v[8 * p + i]);
      half[i] = pieces.piece[0] + pieces.piece[1];
    }
    for (int i = 0; i < 4; ++i)
      quarter[i] = __builtin_shufflevector(half[i], half[i + 4], 0, 1, 2, 3, 8, 9, 10, 11) +
                   __builtin_shufflevector(half[i], half[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    for (int i = 0; i < 2; ++i)
      eighth[i] = __builtin_shufflevector(quarter[i], quarter[i + 2], 0, 1, 8, 9, 4, 5, 12, 13) +
                  __builtin_shufflevector(quarter[i], quarter[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    sums[p] = __builtin_shufflevector(eighth[0], eighth[1], 0, 8, 2, 10, 4, 12, 6, 14) +
              __builtin_shufflevector(eighth[0], eighth[1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  return joined(sums);
}
#else
inline Vec sums_of_lanes(const Vec (&v)[kLanes]) {
  Vec half[8], quarter[4], eighth[2];
  for (int i = 0; i < 8; ++i)
    half[i] = __builtin_shufflevector(v[i], v[i + 8], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
              __builtin_shufflevector(v[i], v[i + 8], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  for (int i = 0; i < 4; ++i)
    quarter[i] =
        __builtin_shufflevector(half[i], half[i + 4], 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27) +
        __builtin_shufflevector(half[i], half[i + 4], 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  for (int i = 0; i < 2; ++i)
    eighth[i] =
        __builtin_shufflevector(quarter[i], quarter[i + 2], 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
        __builtin_shufflevector(quarter[i], quarter[i + 2], 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  return __builtin_shufflevector(eighth[0], eighth[1], 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30) +
         __builtin_shufflevector(eighth[0], eighth[1], 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
}
#endif

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
