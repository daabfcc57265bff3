#pragma once

// Part of a kernel set: see kernels_impl.h.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "nn/kernels/kernels.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

constexpr int64_t kLanes = 16;
static_assert(kPanel == 2 * kLanes);
typedef float Vec __attribute__((vector_size(64)));
typedef int32_t IntVec __attribute__((vector_size(64)));

/// The next whole number of vectors, in elements.
inline int64_t round_up(int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }
inline Vec all(float x) { return x - Vec{}; }

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
inline Vec vec_exp(Vec x) {
  const Vec low = all(-87.3f), high = all(88.3f);
  const IntVec underflow = x < low;
  x = x < low ? low : x;
  x = x > high ? high : x;
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
  const Vec result = p * scale;
  return underflow ? Vec{} : result;
}

inline float sum_lanes(Vec v) {
  float a[kLanes];
  store(a, v);
  for (int64_t width = kLanes / 2; width > 0; width /= 2)
    for (int64_t i = 0; i < width; ++i) a[i] += a[i + width];
  return a[0];
}
inline float max_lanes(Vec v) {
  float a[kLanes];
  store(a, v);
  for (int64_t width = kLanes / 2; width > 0; width /= 2)
    for (int64_t i = 0; i < width; ++i) a[i] = std::max(a[i], a[i + width]);
  return a[0];
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
