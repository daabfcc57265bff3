#pragma once

// Part of a kernel set: see kernels_impl.h.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "nn/kernels/kernels.h"
#include "nn/kernels/vector_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

template <typename T>
void cross_entropy_range(const CrossEntropyRows& c, int64_t begin, int64_t end) {
  const int64_t padded = round_up(c.classes);
  std::vector<float> x(padded), e(padded);
  const float infinity = std::numeric_limits<float>::infinity();
  for (int64_t r = begin; r < end; ++r) {
    T* logits = static_cast<T*>(c.logits) + r * c.classes;
    if (c.labels[r] < 0) {
      if (c.loss) c.loss[r] = 0;
      if (c.label_loss) c.label_loss[r] = 0;
      if (c.correct) c.correct[r] = 0;
      if (c.write_gradient) std::memset(logits, 0, c.classes * sizeof(T));
      continue;
    }
    load_row(logits, x.data(), c.classes);
    for (int64_t j = c.classes; j < padded; ++j) x[j] = -infinity;
    Vec top = all(-infinity);
    for (int64_t j = 0; j < padded; j += kLanes) {
      const Vec v = load(x.data() + j);
      top = v > top ? v : top;
    }
    const float maximum = max_lanes(top);
    Vec sum = {}, logit_sum = {};
    for (int64_t j = 0; j < padded; j += kLanes) {
      const Vec v = load(x.data() + j), shifted = v - all(maximum), p = vec_exp(shifted);
      store(e.data() + j, p);
      sum += p;
      logit_sum += v == all(-infinity) ? Vec{} : shifted;
    }
    const float total = sum_lanes(sum), log_total = std::log(total);
    const int64_t label = c.labels[r];
    const float label_loss = log_total - (x[label] - maximum);
    const float uniform = c.smoothing / static_cast<float>(c.classes);
    // -sum_v q_v log p_v = (1 - eps) * label_loss + eps / V * sum_v (log_total - shifted_v)
    const float mean_loss = log_total - sum_lanes(logit_sum) / static_cast<float>(c.classes);
    if (c.loss) c.loss[r] = (1 - c.smoothing) * label_loss + c.smoothing * mean_loss;
    if (c.label_loss) c.label_loss[r] = label_loss;
    if (c.correct) c.correct[r] = x[label] >= maximum;
    if (!c.write_gradient) continue;
    const Vec factor = all(c.gradient_scale / total), shift = all(c.gradient_scale * uniform);
    for (int64_t j = 0; j < padded; j += kLanes) store(e.data() + j, load(e.data() + j) * factor - shift);
    e[label] -= c.gradient_scale * (1 - c.smoothing);
    store_row(e.data(), logits, c.classes);
  }
}

void cross_entropy(Type type, const CrossEntropyRows& rows, int64_t begin, int64_t end) {
  if (type == Type::kFloat)
    cross_entropy_range<float>(rows, begin, end);
  else
    cross_entropy_range<uint16_t>(rows, begin, end);
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
