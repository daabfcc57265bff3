#pragma once

// Part of a kernel set: see kernel_set.cpp.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "nn/kernels/attention_impl.h"
#include "nn/kernels/kernels.h"
#include "nn/kernels/vector_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// One head of one query against keys and values of type T. kDim: head_dim where known when compiled, else 0. scores:
// space for n, padded to whole vectors.
template <typename T, int64_t kDim>
void attend(const AttentionStep& s, const float* q, const void* const* rows, int64_t head_at, int64_t n, float* scores,
            float* context) {
  const T* const* keys = reinterpret_cast<const T* const*>(rows);
  const int64_t dim = kDim > 0 ? kDim : s.head_dim, whole = dim / kLanes * kLanes, padded = round_up(n);
  for (int64_t first = 0; first < n; first += kLanes) {
    Vec products[kLanes] = {};
    const int64_t count = std::min(kLanes, n - first);
    for (int64_t j = 0; j < count; ++j) {
      const T* key = keys[first + j] + head_at;
      Piece sums[kPieces] = {};
      for (int64_t d = 0; d < whole; d += kLanes)
        for (int64_t i = 0; i < kPieces; ++i)
          sums[i] += load_piece(q + d + i * kPieceLanes) * load_piece(key + d + i * kPieceLanes);
      products[j] = joined(sums);
    }
    store(scores + first, sums_of_lanes(products));
    for (int64_t d = whole; d < dim; ++d)
      for (int64_t j = 0; j < count; ++j) scores[first + j] += q[d] * to_float(keys[first + j][head_at + d]);
  }
  softmax_row(scores, n, padded, s.scale);
  const int64_t value_at = head_at + s.value_offset;
  constexpr int64_t kVecs = 4;  // independent sums, enough to hide the latency of one
  int64_t d = 0;
  for (; d + kVecs * kLanes <= dim; d += kVecs * kLanes) {
    Piece sums[kVecs * kPieces] = {};
    for (int64_t j = 0; j < n; ++j)
      for (int64_t v = 0; v < kVecs * kPieces; ++v)
        sums[v] += piece_of(scores[j]) * load_piece(keys[j] + value_at + d + v * kPieceLanes);
    for (int64_t v = 0; v < kVecs * kPieces; ++v) store_piece(context + d + v * kPieceLanes, sums[v]);
  }
  for (; d < whole; d += kPieceLanes) {
    Piece sum = {};
    for (int64_t j = 0; j < n; ++j) sum += piece_of(scores[j]) * load_piece(keys[j] + value_at + d);
    store_piece(context + d, sum);
  }
  for (; d < dim; ++d) {
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += scores[j] * to_float(keys[j][value_at + d]);
    context[d] = sum;
  }
}

template <typename T>
void attention_step_of(const AttentionStep& s, Range pairs) {
  const int64_t group = s.heads / s.key_value_heads;
  const auto attend_head = s.head_dim == 64 ? attend<T, 64> : attend<T, 0>;
  std::vector<float> scores(round_up(s.widest));
  for (int64_t pair = pairs.begin; pair < pairs.end; ++pair) {
    const int64_t row = pair / s.heads, h = pair % s.heads;
    attend_head(s, s.q + row * s.query_stride + h * s.head_dim, s.keys + row * s.widest,
                s.key_offset + h / group * s.head_dim, s.lengths[row], scores.data(),
                s.context + (row * s.heads + h) * s.head_dim);
  }
}

void attention_step(const AttentionStep& s, Range pairs) {
  if (s.type == Type::kFloat)
    attention_step_of<float>(s, pairs);
  else
    attention_step_of<uint16_t>(s, pairs);
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
