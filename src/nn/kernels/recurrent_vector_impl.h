#pragma once

// Part of a kernel set: see kernel_set.cpp.
#include <cstdint>
#include <cstring>

#include "nn/kernels/vector_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// Loads and stores of the first `count` of kLanes features, in either type; missing ones are 0.
inline void narrow(float* p, Vec x) { store(p, x); }
inline void narrow(uint16_t* p, Vec x) {  // to nearest, ties to even; NaN stays NaN
  typedef uint16_t ShortVec __attribute__((vector_size(2 * kPieceLanes)));
  for (int64_t i = 0; i < kPieces; ++i) {
    const auto bits = reinterpret_cast<WordVec::Register>(x.piece[i]);
    const auto rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16, nan = (bits & 0) + 0x7fc0;
    const ShortVec result = __builtin_convertvector(x.piece[i] != x.piece[i] ? nan : rounded, ShortVec);
    std::memcpy(p + i * kPieceLanes, &result, sizeof result);
  }
}

template <typename T>
Vec load_lanes(const T* p, int64_t count) {
  if (count >= kLanes) return load(p);
  T part[kLanes] = {};
  std::memcpy(part, p, count * sizeof(T));
  return load(part);
}
template <typename T>
void store_lanes(T* p, Vec x, int64_t count) {
  if (count >= kLanes) return narrow(p, x);
  T part[kLanes];
  narrow(part, x);
  std::memcpy(p, part, count * sizeof(T));
}

inline Vec vec_sigmoid(Vec x) { return all(1.0f) / (all(1.0f) + vec_exp(-x)); }
inline Vec vec_tanh(Vec x) { return all(1.0f) - all(2.0f) / (vec_exp(x + x) + all(1.0f)); }

void sigmoid(const float* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) store_lanes(y + i, vec_sigmoid(load_lanes(x + i, count - i)), count - i);
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
