#pragma once

// Part of a kernel set: see kernel_set.cpp.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "nn/kernels/kernels.h"
#include "nn/kernels/recurrent_vector_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// body(first feature, how many) for each vector of `size` features.
template <typename Body>
void for_vectors(int64_t size, Body&& body) {
  for (int64_t i = 0; i < size; i += kLanes) body(i, std::min(kLanes, size - i));
}

// tanh(query + key + coverage u) of one vector of features. Lanes beyond the features give tanh(0) = 0.
struct HiddenLayer {
  Vec query, u;
  Vec operator()(Vec key, float coverage) const { return vec_tanh(query + key + all(coverage) * u); }
};

template <typename T>
void additive_scores_of(const AdditiveScores& task, T* scores, Range sentences) {
  const auto [type, target, source, size] = task.shape;
  for (int64_t b = sentences.begin; b < sentences.end; ++b)
    for (int64_t t = 0; t < target; ++t)
      for (int64_t s = 0; s < source; ++s) {
        const int64_t place = (b * target + t) * source + s;
        const T* query = static_cast<const T*>(task.queries) + (b * target + t) * size;
        const T* key = static_cast<const T*>(task.keys) + (b * source + s) * size;
        const float coverage = task.coverage ? task.coverage[place] : 0;
        Vec sum{};
        for_vectors(size, [&](int64_t i, int64_t n) {
          const HiddenLayer hidden{load_lanes(query + i, n), task.u ? load_lanes(task.u + i, n) : Vec{}};
          sum += load_lanes(task.v + i, n) * hidden(load_lanes(key + i, n), coverage);
        });
        scores[place] = from_float<T>(sum_lanes(sum));
      }
}

template <typename T>
void additive_backward_of(const AdditiveScores& task, const AdditiveGradients& gradients, Range sentences) {
  const auto [type, target, source, size] = task.shape;
  std::vector<float> of_keys(source * kLanes);
  for (int64_t b = sentences.begin; b < sentences.end; ++b) {
    if (task.coverage)
      std::fill(gradients.coverage + b * target * source, gradients.coverage + (b + 1) * target * source, 0.0f);
    for_vectors(size, [&](int64_t i, int64_t n) {
      const Vec v = load_lanes(task.v + i, n), u = task.u ? load_lanes(task.u + i, n) : Vec{};
      Vec of_v{}, of_u{};
      std::fill(of_keys.begin(), of_keys.end(), 0.0f);
      for (int64_t t = 0; t < target; ++t) {
        const int64_t query = (b * target + t) * size + i;
        const HiddenLayer hidden{load_lanes(static_cast<const T*>(task.queries) + query, n), u};
        Vec of_query{};
        for (int64_t s = 0; s < source; ++s) {
          const int64_t place = (b * target + t) * source + s;
          const float coverage = task.coverage ? task.coverage[place] : 0;
          const Vec of_score = all(to_float(static_cast<const T*>(gradients.scores)[place]));
          const Vec y = hidden(load_lanes(static_cast<const T*>(task.keys) + (b * source + s) * size + i, n), coverage);
          const Vec inside = of_score * v * (all(1.0f) - y * y);
          of_v += of_score * y;
          of_query += inside;
          store(&of_keys[s * kLanes], load(&of_keys[s * kLanes]) + inside);
          if (task.coverage) {
            of_u += all(coverage) * inside;
            gradients.coverage[place] += sum_lanes(inside * u);
          }
        }
        store_lanes(static_cast<T*>(gradients.queries) + query, of_query, n);
      }
      for (int64_t s = 0; s < source; ++s)
        store_lanes(static_cast<T*>(gradients.keys) + (b * source + s) * size + i, load(&of_keys[s * kLanes]), n);
      store_lanes(gradients.v + b * size + i, of_v, n);
      if (task.u) store_lanes(gradients.u + b * size + i, of_u, n);
    });
  }
}

template <typename T>
void dot_scores_of(const ScoreShape& shape, const T* queries, const T* keys, T* scores, Range sentences) {
  const auto [type, target, source, size] = shape;
  for (int64_t b = sentences.begin; b < sentences.end; ++b)
    for (int64_t t = 0; t < target; ++t)
      for (int64_t s = 0; s < source; ++s) {
        const T *query = queries + (b * target + t) * size, *key = keys + (b * source + s) * size;
        Vec sum{};
        for_vectors(size, [&](int64_t i, int64_t n) { sum += load_lanes(query + i, n) * load_lanes(key + i, n); });
        scores[(b * target + t) * source + s] = from_float<T>(sum_lanes(sum));
      }
}

// to[r] = sum_j weights[r * row + j * column] from[j]: rows of `size` features.
template <typename T>
void sum_rows(const T* weights, int64_t row, int64_t column, const T* from, int64_t count, T* to, int64_t rows,
              int64_t size) {
  for (int64_t r = 0; r < rows; ++r)
    for_vectors(size, [&](int64_t i, int64_t n) {
      Vec sum{};
      for (int64_t j = 0; j < count; ++j)
        sum += all(to_float(weights[r * row + j * column])) * load_lanes(from + j * size + i, n);
      store_lanes(to + r * size + i, sum, n);
    });
}

// Calls body with a null pointer of the type's element.
template <typename Body>
void with_type(Type type, Body&& body) {
  type == Type::kFloat ? body(static_cast<float*>(nullptr)) : body(static_cast<uint16_t*>(nullptr));
}

void additive_scores(const AdditiveScores& task, void* scores, Range sentences) {
  with_type(task.shape.type, [&]<typename T>(T*) { additive_scores_of(task, static_cast<T*>(scores), sentences); });
}

void additive_scores_backward(const AdditiveScores& task, const AdditiveGradients& gradients, Range sentences) {
  with_type(task.shape.type, [&]<typename T>(T*) { additive_backward_of<T>(task, gradients, sentences); });
}

void dot_scores(const ScoreShape& shape, const void* queries, const void* keys, void* scores, Range sentences) {
  with_type(shape.type, [&]<typename T>(T*) {
    dot_scores_of(shape, static_cast<const T*>(queries), static_cast<const T*>(keys), static_cast<T*>(scores),
                  sentences);
  });
}

void weighted_sums(const ScoreShape& shape, const void* weights, const void* keys, void* queries, Range sentences) {
  const auto [type, target, source, size] = shape;
  with_type(type, [&]<typename T>(T*) {
    for (int64_t b = sentences.begin; b < sentences.end; ++b)
      sum_rows(static_cast<const T*>(weights) + b * target * source, source, 1,
               static_cast<const T*>(keys) + b * source * size, source, static_cast<T*>(queries) + b * target * size,
               target, size);
  });
}

void weighted_sums_of_queries(const ScoreShape& shape, const void* weights, const void* queries, void* keys,
                              Range sentences) {
  const auto [type, target, source, size] = shape;
  with_type(type, [&]<typename T>(T*) {
    for (int64_t b = sentences.begin; b < sentences.end; ++b)
      sum_rows(static_cast<const T*>(weights) + b * target * source, 1, source,
               static_cast<const T*>(queries) + b * target * size, target, static_cast<T*>(keys) + b * source * size,
               source, size);
  });
}

void softmax_scores(const ScoreShape& shape, float* scores, const int64_t* lengths, Range sentences) {
  for (int64_t row = sentences.begin * shape.target; row < sentences.end * shape.target; ++row) {
    float* const score = scores + row * shape.source;
    const int64_t length = lengths[row / shape.target];
    const float highest = length > 0 ? *std::max_element(score, score + length) : 0.0f;
    float sum = 0;
    for_vectors(length, [&](int64_t s, int64_t n) {
      store_lanes(score + s, vec_exp(load_lanes(score + s, n) - all(highest)), n);
      for (int64_t i = s; i < s + n; ++i) sum += score[i];
    });
    for (int64_t s = 0; s < shape.source; ++s) score[s] = s < length ? score[s] / sum : 0.0f;
  }
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
