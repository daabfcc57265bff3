#pragma once

// Part of a kernel set: see kernels_impl.h.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "nn/kernels/attention_impl.h"
#include "nn/kernels/kernels.h"
#include "nn/kernels/vector_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// One head of one query. kDim: head_dim where known when compiled, else 0. scores: room for n, padded to whole vectors.
template <int64_t kDim>
void attend(const AttentionStep& s, const float* q, const float* const* keys, int64_t head_at, int64_t n, float* scores,
            float* context) {
  const int64_t dim = kDim > 0 ? kDim : s.head_dim, whole = dim / kLanes * kLanes, padded = round_up(n);
  for (int64_t first = 0; first < n; first += kLanes) {
    Vec products[kLanes] = {};
    const int64_t count = std::min(kLanes, n - first);
    for (int64_t j = 0; j < count; ++j) {
      const float* key = keys[first + j] + head_at;
      for (int64_t d = 0; d < whole; d += kLanes) products[j] += load(q + d) * load(key + d);
    }
    store(scores + first, sums_of_lanes(products));
    for (int64_t d = whole; d < dim; ++d)
      for (int64_t j = 0; j < count; ++j) scores[first + j] += q[d] * keys[first + j][head_at + d];
  }
  softmax_row(scores, n, padded, s.scale);
  const int64_t value_at = head_at + s.value_offset;
  constexpr int64_t kVecs = 4;  // independent sums, enough to hide the latency of one
  int64_t d = 0;
  for (; d + kVecs * kLanes <= dim; d += kVecs * kLanes) {
    Vec sums[kVecs] = {};
    for (int64_t j = 0; j < n; ++j)
      for (int64_t v = 0; v < kVecs; ++v) sums[v] += all(scores[j]) * load(keys[j] + value_at + d + v * kLanes);
    for (int64_t v = 0; v < kVecs; ++v) store(context + d + v * kLanes, sums[v]);
  }
  for (; d < whole; d += kLanes) {
    Vec sum = {};
    for (int64_t j = 0; j < n; ++j) sum += all(scores[j]) * load(keys[j] + value_at + d);
    store(context + d, sum);
  }
  for (; d < dim; ++d) {
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += scores[j] * keys[j][value_at + d];
    context[d] = sum;
  }
}

void attention_step(const AttentionStep& s, Range pairs) {
  const int64_t group = s.heads / s.key_value_heads;
  std::vector<float> scores(round_up(s.widest));
  for (int64_t pair = pairs.begin; pair < pairs.end; ++pair) {
    const int64_t row = pair / s.heads, h = pair % s.heads;
    const auto attend_head = s.head_dim == 64 ? attend<64> : attend<0>;
    attend_head(s, s.q + row * s.query_stride + h * s.head_dim, s.keys + row * s.widest, h / group * s.head_dim,
                s.lengths[row], scores.data(), s.context + (row * s.heads + h) * s.head_dim);
  }
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
