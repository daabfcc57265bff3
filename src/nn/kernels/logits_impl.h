#pragma once

// Part of a kernel set: see kernel_set.cpp.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "nn/kernels/kernels.h"
#include "nn/kernels/vector_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

constexpr float kNoLogit = -std::numeric_limits<float>::infinity();

/// One row of logits, widened to float and filled up to whole vectors, and its softmax.
struct SoftmaxRow {
  explicit SoftmaxRow(int64_t classes) : classes(classes), padded(round_up(classes)), shifted(padded), exps(padded) {}

  template <typename T>
  void read(const T* logits) {
    load_row(logits, shifted.data(), classes);
    for (int64_t j = classes; j < padded; ++j) shifted[j] = kNoLogit;
    Vec top = all(kNoLogit);
    for (int64_t j = 0; j < padded; j += kLanes) {
      const Vec v = load(shifted.data() + j);
      top = greater(v, top);
    }
    const float maximum = max_lanes(top);
    Vec sum = {}, logit_sum = {};
    for (int64_t j = 0; j < padded; j += kLanes) {
      const Vec v = load(shifted.data() + j) - all(maximum), p = vec_exp(v);
      store(shifted.data() + j, v);
      store(exps.data() + j, p);
      sum += p;
      logit_sum += choose(kEqual, v, all(kNoLogit), Vec{}, v);
    }
    total = sum_lanes(sum);
    log_total = std::log(total);
    mean_loss = log_total - sum_lanes(logit_sum) / static_cast<float>(classes);
  }

  float loss_of(int64_t label) const { return log_total - shifted[label]; }
  // -sum_v q_v log p_v = (1 - eps) * loss_of(label) + eps / V * sum_v (log_total - shifted_v)
  float smoothed_loss(int64_t label, float eps) const { return (1 - eps) * loss_of(label) + eps * mean_loss; }
  bool is_top(int64_t label) const { return shifted[label] >= 0; }

  int64_t classes, padded;
  std::vector<float> shifted;  // logits less the highest
  std::vector<float> exps;     // exp of them
  float total = 0, log_total = 0;
  float mean_loss = 0;  // mean over the classes of -log p
};

inline void clear_losses(const CrossEntropyRows& c, int64_t row) {
  if (c.loss) c.loss[row] = 0;
  if (c.label_loss) c.label_loss[row] = 0;
  if (c.correct) c.correct[row] = 0;
}

template <typename T>
void cross_entropy_range(const CrossEntropyRows& c, int64_t begin, int64_t end) {
  SoftmaxRow row(c.classes);
  for (int64_t r = begin; r < end; ++r) {
    T* logits = static_cast<T*>(c.logits) + r * c.classes;
    const int64_t label = c.labels[r];
    if (label < 0) {
      clear_losses(c, r);
      if (c.write_gradient) std::memset(logits, 0, c.classes * sizeof(T));
      continue;
    }
    row.read(logits);
    if (c.loss) c.loss[r] = row.smoothed_loss(label, c.smoothing);
    if (c.label_loss) c.label_loss[r] = row.loss_of(label);
    if (c.correct) c.correct[r] = row.is_top(label);
    if (!c.write_gradient) continue;
    const Vec factor = all(c.gradient_scale / row.total);
    const Vec shift = all(c.gradient_scale * c.smoothing / static_cast<float>(c.classes));
    float* gradient = row.exps.data();
    for (int64_t j = 0; j < row.padded; j += kLanes) store(gradient + j, load(gradient + j) * factor - shift);
    gradient[label] -= c.gradient_scale * (1 - c.smoothing);
    store_row(gradient, logits, c.classes);
  }
}

/// sum_v p_v (log p_v - log q_v) and the same with p and q changed.
inline void divergences(const SoftmaxRow& p, const SoftmaxRow& q, float& forward, float& backward) {
  const Vec of_p = all(1 / p.total), of_q = all(1 / q.total), offset = all(q.log_total - p.log_total);
  Vec sum_p = {}, sum_q = {};
  for (int64_t j = 0; j < p.padded; j += kLanes) {
    const Vec vp = load(p.shifted.data() + j), vq = load(q.shifted.data() + j);
    const Vec log_ratio = choose(kEqual, vp, all(kNoLogit), Vec{}, vp - vq + offset);
    sum_p += load(p.exps.data() + j) * of_p * log_ratio;
    sum_q -= load(q.exps.data() + j) * of_q * log_ratio;
  }
  forward = sum_lanes(sum_p);
  backward = sum_lanes(sum_q);
}

template <typename T>
void cross_entropy_pairs_range(const CrossEntropyRows& c, const PairLoss& w, int64_t begin, int64_t end) {
  SoftmaxRow p(c.classes), q(c.classes);
  for (int64_t r = 2 * begin; r < 2 * end; r += 2) {
    T* logits = static_cast<T*>(c.logits) + r * c.classes;
    const int64_t label = c.labels[r];
    clear_losses(c, r + 1);
    if (label < 0) {
      clear_losses(c, r);
      if (c.write_gradient) std::memset(logits, 0, 2 * c.classes * sizeof(T));
      continue;
    }
    p.read(logits);
    q.read(logits + c.classes);
    float forward, backward;
    divergences(p, q, forward, backward);
    if (c.loss)
      c.loss[r] = w.first * p.smoothed_loss(label, c.smoothing) + w.second * q.smoothed_loss(label, c.smoothing) +
                  w.forward * forward + w.backward * backward;
    if (c.label_loss) c.label_loss[r] = p.loss_of(label);
    if (c.correct) c.correct[r] = p.is_top(label);
    if (!c.write_gradient) continue;
    // With d = log p - log q, the gradient by p's logits is first (p - target) + forward p (d - KL(p||q)) + backward (p
    // - q), and by q's likewise.
    const Vec of_p = all(1 / p.total), of_q = all(1 / q.total), offset = all(q.log_total - p.log_total);
    const float uniform = c.smoothing / static_cast<float>(c.classes);
    for (int64_t j = 0; j < p.padded; j += kLanes) {
      const Vec vp = load(p.shifted.data() + j), vq = load(q.shifted.data() + j);
      const Vec d = choose(kEqual, vp, all(kNoLogit), Vec{}, vp - vq + offset);
      const Vec pp = load(p.exps.data() + j) * of_p, qq = load(q.exps.data() + j) * of_q, difference = pp - qq;
      store(p.exps.data() + j,
            all(c.gradient_scale) * (all(w.first) * (pp - all(uniform)) + all(w.backward) * difference +
                                     all(w.forward) * pp * (d - all(forward))));
      store(q.exps.data() + j,
            all(c.gradient_scale) * (all(w.second) * (qq - all(uniform)) - all(w.forward) * difference -
                                     all(w.backward) * qq * (d + all(backward))));
    }
    p.exps[label] -= c.gradient_scale * w.first * (1 - c.smoothing);
    q.exps[label] -= c.gradient_scale * w.second * (1 - c.smoothing);
    store_row(p.exps.data(), logits, c.classes);
    store_row(q.exps.data(), logits + c.classes, c.classes);
  }
}

void cross_entropy(Type type, const CrossEntropyRows& rows, int64_t begin, int64_t end) {
  if (type == Type::kFloat)
    cross_entropy_range<float>(rows, begin, end);
  else
    cross_entropy_range<uint16_t>(rows, begin, end);
}

void cross_entropy_pairs(Type type, const CrossEntropyRows& rows, const PairLoss& pair, int64_t begin, int64_t end) {
  if (type == Type::kFloat)
    cross_entropy_pairs_range<float>(rows, pair, begin, end);
  else
    cross_entropy_pairs_range<uint16_t>(rows, pair, begin, end);
}

// 2^x for x in [-126, 0], relative error below 3e-7: the fraction by a polynomial (Taylor's, through the middle of
// [-1/2, 1/2]), times that of the whole part.
inline Vec vec_exp2(Vec x) {
  const Vec magic = all(12582912.0f);  // adding it rounds to whole numbers
  const Vec whole = (x + magic) - magic, f = x - whole;
  Vec p = all(1.5403530e-4f);
  p = p * f + all(1.3333558e-3f);
  p = p * f + all(9.6181291e-3f);
  p = p * f + all(5.5504109e-2f);
  p = p * f + all(2.4022651e-1f);
  p = p * f + all(6.9314718e-1f);
  p = p * f + all(1.0f);
  return p * power_of_two(whole);
}

void logit_rows(const LogitRows& task, Range rows) {
  const float infinity = std::numeric_limits<float>::infinity();
  const int64_t classes = task.classes, blocks = logit_block_count(classes);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const float* row = task.logits + r * classes;
    float* maxima = task.block_maxima + r * blocks;
    const int64_t whole = classes / kLogitBlock;
    float last[kLogitBlock];  // what does not fill a block
    std::fill(last, last + kLogitBlock, -infinity);
    std::copy(row + whole * kLogitBlock, row + classes, last);
    const auto block_at = [&](int64_t block) { return block < whole ? row + block * kLogitBlock : last; };

    Vec top = all(-infinity);
    for (int64_t block = 0; block < blocks; ++block) {
      const float* x = block_at(block);
      Vec highest = load(x);
      for (int64_t i = kLanes; i < kLogitBlock; i += kLanes) highest = greater(load(x + i), highest);
      maxima[block] = max_lanes(highest);
      top = greater(highest, top);
    }
    const float maximum = max_lanes(top);
    const Vec log2_e = all(1.44269504f), min = all(-126);
    Vec sums[kLogitBlock / kLanes] = {};
    for (int64_t block = 0; block < blocks; ++block) {
      const float* x = block_at(block);
      for (int64_t i = 0; i < kLogitBlock / kLanes; ++i) {
        const Vec power = (load(x + i * kLanes) - all(maximum)) * log2_e;
        sums[i] += vec_exp2(greater(min, power));
      }
    }
    Vec sum = {};
    for (const Vec& part : sums) sum += part;
    task.maxima[r] = maximum;
    task.log_sums[r] = std::log(sum_lanes(sum));
    if (!task.weights) continue;
    float* weights = task.weights + r * classes;
    const Vec scale = log2_e * all(task.sharpness);
    for (int64_t block = 0; block < blocks; ++block) {
      float out[kLogitBlock];
      for (int64_t i = 0; i < kLogitBlock; i += kLanes)
        store(out + i, vec_exp2(greater(min, (load(block_at(block) + i) - all(maximum)) * scale)));
      std::copy(out, out + std::min(kLogitBlock, classes - block * kLogitBlock), weights + block * kLogitBlock);
    }
  }
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
