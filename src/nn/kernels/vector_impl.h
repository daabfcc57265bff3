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

constexpr int64_t kLanes = 16;  // of a vector, whatever the instruction set: so sums have the same order in all

// Lanes of a register of this instruction set.
#if defined(__AVX512F__)
constexpr int64_t kPieceLanes = 16;
#elif defined(__AVX__)
constexpr int64_t kPieceLanes = 8;
#else
constexpr int64_t kPieceLanes = 4;
#endif
constexpr int64_t kPieces = kLanes / kPieceLanes;

// kLanes numbers of 32 bits. A single vector type would be wider than a register, and GCC 12 keeps such a vector in
// memory and shifts and compares its lanes one by one.
template <typename Number>
struct Lanes {
  typedef Number Register __attribute__((vector_size(4 * kPieceLanes)));
  Register piece[kPieces];
};
using Vec = Lanes<float>;
using IntVec = Lanes<int32_t>;
using WordVec = Lanes<uint32_t>;
using Piece = Vec::Register;

// Lanes whose registers are make(place).
template <typename Number, typename Make>
__attribute__((always_inline)) inline Lanes<Number> pieces(Make make) {
  if constexpr (kPieces == 1)
    return {{make(0)}};
  else if constexpr (kPieces == 2)
    return {{make(0), make(1)}};
  else
    return {{make(0), make(1), make(2), make(3)}};
}
// Lanes whose registers are op(the registers of `from` at the same place).
template <typename To, typename Op, typename... From>
__attribute__((always_inline)) inline Lanes<To> each(Op op, const From&... from) {
  return pieces<To>([&](int place) __attribute__((always_inline)) { return op(from.piece[place]...); });
}
#define NMT_LANES_OPERATOR(op)                                                        \
  template <typename Number>                                                          \
  inline Lanes<Number> operator op(Lanes<Number> a, Lanes<Number> b) {                \
    return each<Number>([](auto x, auto y) { return x op y; }, a, b);                 \
  }                                                                                   \
  template <typename Number>                                                          \
  inline Lanes<Number> operator op(Lanes<Number> a, std::type_identity_t<Number> b) { \
    return each<Number>([b](auto x) { return x op b; }, a);                           \
  }                                                                                   \
  template <typename Number, typename Other>                                          \
  inline Lanes<Number>& operator op##=(Lanes<Number>& a, Other b) {                   \
    return a = a op b;                                                                \
  }
NMT_LANES_OPERATOR(+)
NMT_LANES_OPERATOR(-)
NMT_LANES_OPERATOR(*)
NMT_LANES_OPERATOR(/)
NMT_LANES_OPERATOR(^)
NMT_LANES_OPERATOR(>>)
#undef NMT_LANES_OPERATOR
inline Vec operator-(Vec a) {
  return each<float>([](auto x) { return -x; }, a);
}

/// The next whole number of vectors, in elements.
inline int64_t round_up(int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

template <typename Number>
inline Lanes<Number> load(const Number* p) {
  return pieces<Number>([p](int place) {
    typename Lanes<Number>::Register v;
    std::memcpy(&v, p + place * kPieceLanes, sizeof v);
    return v;
  });
}
inline Piece piece_of(float x) { return x - Piece{}; }
inline Vec all(float x) {
  return each<float>([x](auto zero) { return x - zero; }, Vec{});
}

// In each lane `yes` where compare(a, b) is true, else `no`.
template <typename Compare>
inline Vec choose(Compare compare, Vec a, Vec b, Vec yes, Vec no) {
  return each<float>([compare](auto x, auto y, auto left, auto right) { return compare(x, y) ? left : right; }, a, b,
                     yes, no);
}
constexpr auto kLess = [](auto a, auto b) { return a < b; };
constexpr auto kEqual = [](auto a, auto b) { return a == b; };
// b where one is NaN.
inline Vec lesser(Vec a, Vec b) {
  return each<float>([](auto x, auto y) { return x < y ? x : y; }, a, b);
}
inline Vec greater(Vec a, Vec b) {
  return each<float>([](auto x, auto y) { return x > y ? x : y; }, a, b);
}

alignas(64) constexpr int32_t kLaneNumbers[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
// x in the first lanes, `rest` in those from `count` on.
inline Vec first_lanes(int64_t count, Vec x, Vec rest) {
  const int32_t end = static_cast<int32_t>(count);
  return each<float>([end](auto number, auto left, auto right) { return number < end ? left : right; },
                     load(kLaneNumbers), x, rest);
}

inline Piece load_piece(const float* p) {
  Piece v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline Piece load_piece(const uint16_t* p) {  // bfloat16
  typedef IntVec::Register Ints;
#ifdef __AVX512F__
  // The compiler widens each half of the register by itself. (With a mask of all, as it warns of the other's insides.)
  __m256i upper;
  std::memcpy(&upper, p, sizeof upper);
  return reinterpret_cast<Piece>(reinterpret_cast<Ints>(_mm512_maskz_cvtepu16_epi32(0xffff, upper)) << 16);
#else
  typedef uint16_t HalfWords __attribute__((vector_size(2 * kPieceLanes)));
  HalfWords upper;
  std::memcpy(&upper, p, sizeof upper);
  return reinterpret_cast<Piece>(__builtin_convertvector(upper, Ints) << 16);
#endif
}
inline void store_piece(float* p, Piece v) { std::memcpy(p, &v, sizeof v); }
inline Vec load(const uint16_t* p) {
  return pieces<float>([p](int place) { return load_piece(p + place * kPieceLanes); });
}
inline void store(float* p, Vec v) {
  for (int64_t i = 0; i < kPieces; ++i) store_piece(p + i * kPieceLanes, v.piece[i]);
}

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

// 2^n of whole numbers from -126 to 127.
inline Vec power_of_two(Vec n) {
  return each<float>(
      [](auto x) { return reinterpret_cast<Piece>((__builtin_convertvector(x, IntVec::Register) + 127) << 23); }, n);
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
  return choose(kLess, given, low, Vec{}, p * power_of_two(n));
}

// op(a, b) of lanes 8 apart, then 4, as far as these stand in different registers.
template <typename Op>
inline Piece fold_pieces(Vec v, Op op) {
  if constexpr (kPieces == 4) v.piece[0] = op(v.piece[0], v.piece[2]), v.piece[1] = op(v.piece[1], v.piece[3]);
  if constexpr (kPieces > 1) v.piece[0] = op(v.piece[0], v.piece[1]);
  return v.piece[0];
}
// op(a, b) of lanes 8 apart, then 4, 2 and 1: one number of all.
template <typename Op>
inline float fold_lanes(Vec v, Op op) {
  Piece x = fold_pieces(v, op);
  const auto upper = [&]<int... i>(auto width, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(x, x, (i + width) % int{kPieceLanes}...);
  };
  const auto lanes = std::make_integer_sequence<int, int{kPieceLanes}>();
  if constexpr (kPieceLanes > 8) x = op(x, upper(std::integral_constant<int, 8>(), lanes));
  if constexpr (kPieceLanes > 4) x = op(x, upper(std::integral_constant<int, 4>(), lanes));
  x = op(x, upper(std::integral_constant<int, 2>(), lanes));
  return op(x, upper(std::integral_constant<int, 1>(), lanes))[0];
}
constexpr auto kPlus = [](Piece a, Piece b) { return a + b; };
inline float sum_lanes(Vec v) { return fold_lanes(v, kPlus); }
inline float max_lanes(Vec v) {
  return fold_lanes(v, [](Piece a, Piece b) { return a > b ? a : b; });
}

// Rows become columns, in squares as wide as a register: rows half a square apart are put together again and again, one
// number of each in turn.
inline void transpose(Vec (&v)[kLanes]) {
  constexpr int64_t kHalf = kPieceLanes / 2;
  Vec to[kLanes];
  for (int64_t row = 0; row < kPieces; ++row)
    for (int64_t column = 0; column < kPieces; ++column) {
      Piece square[kPieceLanes], next[kPieceLanes];
      for (int64_t i = 0; i < kPieceLanes; ++i) square[i] = v[row * kPieceLanes + i].piece[column];
      for (int64_t size = kPieceLanes; size > 1; size /= 2) {
        [&]<int... i>(std::integer_sequence<int, i...>) {
          for (int64_t r = 0; r < kHalf; ++r) {
            const Piece a = square[r], b = square[r + kHalf];
            next[2 * r] = __builtin_shufflevector(a, b, (i / 2 + i % 2 * int{kPieceLanes})...);
            next[2 * r + 1] = __builtin_shufflevector(a, b, (int{kHalf} + i / 2 + i % 2 * int{kPieceLanes})...);
          }
        }
        (std::make_integer_sequence<int, int{kPieceLanes}>());
        std::copy_n(next, kPieceLanes, square);
      }
      for (int64_t i = 0; i < kPieceLanes; ++i) to[column * kPieceLanes + i].piece[row] = square[i];
    }
  std::copy_n(to, kLanes, v);
}

// kStep lanes of a, then as many of b, and so on, each plus the lane kStep after it.
template <int kStep>
inline Piece fold_pair(Piece a, Piece b) {
  return [&]<int... i>(std::integer_sequence<int, i...>) {
    const auto from = [](int lane, int offset) {
      return lane % (2 * kStep) < kStep ? lane + offset : int{kPieceLanes} + lane - kStep + offset;
    };
    return __builtin_shufflevector(a, b, from(i, 0)...) + __builtin_shufflevector(a, b, from(i, kStep)...);
  }
  (std::make_integer_sequence<int, int{kPieceLanes}>());
}

// Lane j of the result is sum_lanes(v[j]), in the same order of summation.
inline Vec sums_of_lanes(const Vec (&v)[kLanes]) {
  Vec sums;
  for (int64_t p = 0; p < kPieces; ++p) {
    Piece x[kPieceLanes];
    for (int64_t i = 0; i < kPieceLanes; ++i) x[i] = fold_pieces(v[p * kPieceLanes + i], kPlus);
    if constexpr (kPieceLanes > 8)
      for (int64_t i = 0; i < 8; ++i) x[i] = fold_pair<8>(x[i], x[i + 8]);
    if constexpr (kPieceLanes > 4)
      for (int64_t i = 0; i < 4; ++i) x[i] = fold_pair<4>(x[i], x[i + 4]);
    for (int64_t i = 0; i < 2; ++i) x[i] = fold_pair<2>(x[i], x[i + 2]);
    sums.piece[p] = fold_pair<1>(x[0], x[1]);
  }
  return sums;
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
