#pragma once

// Part of a kernel set: see kernel_set.cpp.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "nn/kernels/kernels.h"
#include "nn/kernels/vector_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// 32 mixed bits of (key, counter): two rounds of a 32-bit finaliser; each gives two 16-bit draws.
template <typename Word>
inline Word draw(Word counter, uint32_t low, uint32_t high) {
  Word x = counter * 0x9e3779b9u + low;
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= (x >> 15) ^ high;
  x *= 0x846ca68bu;
  x ^= x >> 16;
  return x;
}
// Element i is kept when its draw is not below the threshold.
struct Mask {
  uint32_t low, high, threshold;
  float factor;
  Mask(float p, uint64_t key)
      : low(static_cast<uint32_t>(key)),
        high(static_cast<uint32_t>(key >> 32)),
        threshold(static_cast<uint32_t>(std::lround(p * 65536.0f))),
        factor(1.0f / (1.0f - p)) {}
  float operator()(int64_t i) const {
    const uint32_t bits =
        draw(static_cast<uint32_t>(i >> 1) ^ static_cast<uint32_t>((i >> 33) * 0x85ebca6bu), low, high);
    return ((i & 1 ? bits >> 16 : bits & 0xffff) < threshold) ? 0.0f : factor;
  }
  // The factors of the elements from i on.
  Vec lanes(int64_t i) const {
    if (i >> 33 != (i + kLanes) >> 33) {
      float factors[kLanes];
      for (int64_t j = 0; j < kLanes; ++j) factors[j] = (*this)(i + j);
      return load(factors);
    }
    const WordVec number = each<uint32_t>(
        [i](auto lane) { return reinterpret_cast<WordVec::Register>(lane) + static_cast<uint32_t>(i & 1); },
        load(kLaneNumbers));
    const WordVec counter =
        ((number >> 1) + static_cast<uint32_t>(i >> 1)) ^ static_cast<uint32_t>((i >> 33) * 0x85ebca6bu);
    return each<float>(
        [this](auto bits, auto odd) {
          const auto half = (odd & 1) != 0 ? bits >> 16 : bits & 0xffff;
          return half < threshold ? Piece{} : piece_of(factor);
        },
        draw(counter, low, high), number);
  }
};

constexpr int64_t kBlock = 256;

// Calls body(start, n, keep) for blocks that make up [begin, end): keep[j] is the factor of element start + j.
template <typename Body>
inline void for_blocks(float p, uint64_t key, int64_t begin, int64_t end, Body&& body) {
  const Mask mask(p, key);
  float keep[kBlock];
  for (int64_t start = begin; start < end;) {
    // Blocks are aligned to even elements so that both halves of a draw are used where possible.
    const int64_t n = std::min(end - start, kBlock);
    if (start % 2 == 0 && n == kBlock) {
      const uint32_t high_part = static_cast<uint32_t>((start >> 33) * 0x85ebca6bu);
      const uint32_t first = static_cast<uint32_t>(start >> 1);
      for (int64_t j = 0; j < kBlock / 2; ++j) {
        const uint32_t bits = draw((first + static_cast<uint32_t>(j)) ^ high_part, mask.low, mask.high);
        keep[2 * j] = (bits & 0xffff) < mask.threshold ? 0.0f : mask.factor;
        keep[2 * j + 1] = (bits >> 16) < mask.threshold ? 0.0f : mask.factor;
      }
    } else {
      for (int64_t j = 0; j < n; ++j) keep[j] = mask(start + j);
    }
    body(start, n, keep);
    start += n;
  }
}

template <typename T>
void dropout_range(T* out, const T* x, const T* residual, float p, uint64_t key, int64_t begin, int64_t end) {
  for_blocks(p, key, begin, end, [&](int64_t start, int64_t n, const float* keep) {
    if (residual) {
      for (int64_t j = 0; j < n; ++j)
        out[start + j] = from_float<T>(to_float(residual[start + j]) + to_float(x[start + j]) * keep[j]);
    } else {
      for (int64_t j = 0; j < n; ++j) out[start + j] = from_float<T>(to_float(x[start + j]) * keep[j]);
    }
  });
}

void dropout(Type type, void* out, const void* x, const void* residual, float p, uint64_t key, int64_t begin,
             int64_t end) {
  if (type == Type::kFloat)
    dropout_range(static_cast<float*>(out), static_cast<const float*>(x), static_cast<const float*>(residual), p, key,
                  begin, end);
  else
    dropout_range(static_cast<uint16_t*>(out), static_cast<const uint16_t*>(x), static_cast<const uint16_t*>(residual),
                  p, key, begin, end);
}

// out may be x: results go through a block of their own, so that the compiler need not fear that one changes the next
// element.
template <typename T>
void relu_dropout_range(T* out, const T* x, float p, uint64_t key, int64_t begin, int64_t end) {
  for_blocks(p, key, begin, end, [&](int64_t start, int64_t n, const float* keep) {
    T results[kBlock];
    for (int64_t j = 0; j < n; ++j) {
      const float value = to_float(x[start + j]);
      results[j] = from_float<T>((value < 0 ? 0 : value) * keep[j]);  // NaN stays NaN
    }
    std::copy_n(results, n, out + start);
  });
}

void relu_dropout(Type type, void* out, const void* x, float p, uint64_t key, int64_t begin, int64_t end) {
  if (type == Type::kFloat)
    relu_dropout_range(static_cast<float*>(out), static_cast<const float*>(x), p, key, begin, end);
  else
    relu_dropout_range(static_cast<uint16_t*>(out), static_cast<const uint16_t*>(x), p, key, begin, end);
}

// to may be gradient.
template <typename T>
void relu_dropout_backward_range(T* to, const T* gradient, const T* out, float factor, int64_t begin, int64_t end) {
  T results[kBlock];
  for (int64_t start = begin; start < end; start += kBlock) {
    const int64_t n = std::min(end - start, kBlock);
    for (int64_t j = 0; j < n; ++j)
      results[j] = from_float<T>(to_float(out[start + j]) > 0 ? to_float(gradient[start + j]) * factor : 0.0f);
    std::copy_n(results, n, to + start);
  }
}

void relu_dropout_backward(Type type, void* x_gradient, const void* out_gradient, const void* out, float p,
                           int64_t begin, int64_t end) {
  const float factor = 1 / (1 - p);
  if (type == Type::kFloat)
    relu_dropout_backward_range(static_cast<float*>(x_gradient), static_cast<const float*>(out_gradient),
                                static_cast<const float*>(out), factor, begin, end);
  else
    relu_dropout_backward_range(static_cast<uint16_t*>(x_gradient), static_cast<const uint16_t*>(out_gradient),
                                static_cast<const uint16_t*>(out), factor, begin, end);
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
