#pragma once

// Part of a kernel set: see kernel_set.cpp.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "nn/kernels/dropout_impl.h"
#include "nn/kernels/instruction_set.h"
#include "nn/kernels/kernels.h"
#include "nn/kernels/vector_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// C[rows, columns] = A B, with A[i, l] at a[i * a_row + l * a_column] and B [depth, columns] row-major, columns a
// multiple of 16. Each element is one ascending chain of sums over depth.
template <int64_t kRows, int64_t kVecs>
inline void product_block(const float* a, int64_t a_row, int64_t a_column, const float* b, int64_t b_stride,
                          int64_t depth, float* c, int64_t c_stride) {
  Piece acc[kRows][kVecs * kPieces] = {};
  for (int64_t l = 0; l < depth; ++l) {
    Piece right[kVecs * kPieces];
    for (int64_t v = 0; v < kVecs * kPieces; ++v) right[v] = load_piece(b + l * b_stride + v * kPieceLanes);
    for (int64_t r = 0; r < kRows; ++r) {
      const Piece left = piece_of(a[r * a_row + l * a_column]);
      for (int64_t v = 0; v < kVecs * kPieces; ++v) acc[r][v] += left * right[v];
    }
  }
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t v = 0; v < kVecs * kPieces; ++v) store_piece(c + r * c_stride + v * kPieceLanes, acc[r][v]);
}

// 1 to kRows rows.
template <int64_t kRows, int64_t kVecs>
inline void product_rows(const float* a, int64_t a_row, int64_t a_column, const float* b, int64_t b_stride,
                         int64_t rows, int64_t depth, float* c, int64_t c_stride) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return product_rows<kRows - 1, kVecs>(a, a_row, a_column, b, b_stride, rows, depth, c, c_stride);
  }
  product_block<kRows, kVecs>(a, a_row, a_column, b, b_stride, depth, c, c_stride);
}

// The blocks are as even as can be: a chain of sums waits for itself unless there are others beside it.
template <int64_t kVecs>
inline void product_columns(const float* a, int64_t a_row, int64_t a_column, const float* b, int64_t b_stride,
                            int64_t rows, int64_t depth, float* c, int64_t c_stride) {
  constexpr int64_t kRows = NMT_ROW_BLOCK;
  for (int64_t i = 0, blocks = (rows + kRows - 1) / kRows; blocks > 0; --blocks) {
    const int64_t wide = (rows - i + blocks - 1) / blocks;
    product_rows<kRows, kVecs>(a + i * a_row, a_row, a_column, b, b_stride, wide, depth, c + i * c_stride, c_stride);
    i += wide;
  }
}

void product(const float* a, int64_t a_row, int64_t a_column, const float* b, int64_t b_stride, int64_t rows,
             int64_t columns, int64_t depth, float* c, int64_t c_stride) {
  int64_t j = 0;
  for (; j + 2 * kLanes <= columns; j += 2 * kLanes)
    product_columns<2>(a, a_row, a_column, b + j, b_stride, rows, depth, c + j, c_stride);
  for (; j < columns; j += kLanes)
    product_columns<1>(a, a_row, a_column, b + j, b_stride, rows, depth, c + j, c_stride);
}

// Buffers of one (sentence, head), reused over a range. Sizes are fixed by the shape, so pointers stay valid.
struct AttentionBuffers {
  int64_t dim, keys;  // padded to whole vectors
  std::vector<float> memory;
  float *q, *k, *k_transposed, *v, *v_transposed, *weights, *gradient, *score_gradient, *product;
  explicit AttentionBuffers(const AttentionShape& s) {
    dim = round_up(s.head_dim);
    keys = round_up(s.source);
    const int64_t rows = s.target, square = rows * keys;
    const int64_t widest = std::max(rows, s.source) * dim;
    memory.assign(rows * dim * 2 + s.source * dim * 2 + dim * keys * 2 + square * 2 + widest + 8 * kLanes, 0.0f);
    float* next = memory.data();
    const auto take = [&next](int64_t n) {
      float* p = next;
      next += n;
      return p;
    };
    q = take(rows * dim);
    gradient = take(rows * dim);
    k = take(s.source * dim);
    v = take(s.source * dim);
    k_transposed = take(dim * keys);
    v_transposed = take(dim * keys);
    weights = take(square);
    score_gradient = take(square);
    product = take(widest);
  }
};

template <typename T>
void load_rows(const T* from, int64_t stride, float* to, int64_t to_stride, int64_t rows, int64_t n) {
  for (int64_t t = 0; t < rows; ++t) load_row(from + t * stride, to + t * to_stride, n);
}

struct FloatRows {
  const float* first;
  int64_t stride;
};
// The rows themselves where they are whole vectors of float32, else those of load_rows().
template <typename T>
FloatRows float_rows(const T* from, int64_t stride, float* to, int64_t to_stride, int64_t rows, int64_t n) {
  if constexpr (std::is_same_v<T, float>)
    if (n == to_stride) return {from, stride};
  load_rows(from, stride, to, to_stride, rows, n);
  return {to, to_stride};
}

// to [n, columns] = transposed from [rows, n]; columns beyond rows up to a whole vector are zero.
template <typename T>
void load_transposed(const T* from, int64_t stride, float* to, int64_t columns, int64_t rows, int64_t n) {
  for (int64_t t = 0; t < rows; t += kLanes)
    for (int64_t d = 0; d < n; d += kLanes) {
      const int64_t height = std::min(kLanes, rows - t), width = std::min(kLanes, n - d);
      Vec block[kLanes] = {};
      for (int64_t i = 0; i < height; ++i) {
        float line[kLanes] = {};
        if (width == kLanes)
          load_row(from + (t + i) * stride + d, line, kLanes);
        else
          load_row(from + (t + i) * stride + d, line, width);
        block[i] = load(line);
      }
      transpose(block);
      for (int64_t j = 0; j < width; ++j) store(to + (d + j) * columns + t, block[j]);
    }
}

inline int64_t length_of(const int64_t* lengths, int64_t b, int64_t all_of_them) {
  return lengths ? lengths[b] : all_of_them;
}

// Softmax of one row's first `n` scores, in place, zeros behind up to `padded`. log_sum: the log of the sum of exp.
inline void softmax_row(float* row, int64_t n, int64_t padded, float scale, float* log_sum = nullptr) {
  const Vec none = all(-std::numeric_limits<float>::infinity());
  Vec top = none;
  for (int64_t j = 0; j < padded; j += kLanes) {
    Vec x = load(row + j) * all(scale);
    if (j + kLanes > n) x = first_lanes(n - j, x, none);
    store(row + j, x);
    top = greater(x, top);
  }
  const float maximum = max_lanes(top);
  Vec sum = {};
  for (int64_t j = 0; j < padded; j += kLanes) {
    const Vec e = vec_exp(load(row + j) - all(maximum));
    store(row + j, e);
    sum += e;
  }
  const float total = sum_lanes(sum);
  const Vec inverse = all(1.0f / total);
  for (int64_t j = 0; j < padded; j += kLanes) store(row + j, load(row + j) * inverse);
  if (log_sum) *log_sum = maximum + std::log(total);
}

// Drops weights of a row, in whole vectors; first: its index in the [batch, heads, target, source] tensor of weights.
inline void drop_row(float* row, int64_t n, const Mask& mask, int64_t first) {
  for (int64_t j = 0; j < n; j += kLanes) store(row + j, load(row + j) * mask.lanes(first + j));
}

template <typename T>
void attention_range(const AttentionShape& s, const T* q, const T* k, const T* v, T* context, float* log_sums,
                     int64_t begin, int64_t end) {
  AttentionBuffers buffer(s);
  const Mask mask(s.dropout, s.dropout_key);
  for (int64_t pair = begin; pair < end; ++pair) {
    const int64_t b = pair / s.heads, h = pair % s.heads;
    const int64_t rows = length_of(s.target_lengths, b, s.target), keys = length_of(s.source_lengths, b, s.source);
    const int64_t padded = round_up(keys);
    const T* k_head = k + b * s.source * s.key_stride + h * s.head_dim;
    const T* v_head = v + b * s.source * s.key_stride + h * s.head_dim;
    const T* q_head = q + b * s.target * s.query_stride + h * s.head_dim;
    T* out = context + b * s.target * s.context_stride + h * s.head_dim;
    const FloatRows queries = float_rows(q_head, s.query_stride, buffer.q, buffer.dim, rows, s.head_dim);
    const FloatRows values = float_rows(v_head, s.key_stride, buffer.v, buffer.dim, keys, s.head_dim);
    load_transposed(k_head, s.key_stride, buffer.k_transposed, padded, keys, s.head_dim);
    product(queries.first, queries.stride, 1, buffer.k_transposed, padded, rows, padded, s.head_dim, buffer.weights,
            padded);
    for (int64_t t = 0; t < rows; ++t) {
      float* row = buffer.weights + t * padded;
      const int64_t visible = s.causal ? std::min(keys, t + 1) : keys;
      softmax_row(row, visible, padded, s.scale, log_sums ? log_sums + pair * s.target + t : nullptr);
      if (s.dropout > 0) drop_row(row, visible, mask, (pair * s.target + t) * s.source);
    }
    float* to = buffer.product;
    int64_t to_stride = buffer.dim;
    if constexpr (std::is_same_v<T, float>)
      if (s.head_dim == buffer.dim) to = out, to_stride = s.context_stride;
    product(buffer.weights, padded, 1, values.first, values.stride, rows, buffer.dim, keys, to, to_stride);
    for (int64_t t = 0; t < rows && to == buffer.product; ++t)
      store_row(to + t * to_stride, out + t * s.context_stride, s.head_dim);
    for (int64_t t = rows; t < s.target; ++t) std::memset(out + t * s.context_stride, 0, s.head_dim * sizeof(T));
  }
}

void attention(Type type, const AttentionShape& s, const void* q, const void* k, const void* v, void* context,
               float* log_sums, int64_t begin, int64_t end) {
  if (type == Type::kFloat)
    attention_range(s, static_cast<const float*>(q), static_cast<const float*>(k), static_cast<const float*>(v),
                    static_cast<float*>(context), log_sums, begin, end);
  else
    attention_range(s, static_cast<const uint16_t*>(q), static_cast<const uint16_t*>(k),
                    static_cast<const uint16_t*>(v), static_cast<uint16_t*>(context), log_sums, begin, end);
}

template <typename T>
void store_rows(const float* from, int64_t from_stride, T* to, int64_t stride, int64_t rows, int64_t all_rows,
                int64_t n) {
  for (int64_t t = 0; t < rows; ++t) store_row(from + t * from_stride, to + t * stride, n);
  for (int64_t t = rows; t < all_rows; ++t) std::memset(to + t * stride, 0, n * sizeof(T));
}

template <typename T>
void attention_backward_range(const AttentionShape& s, const T* q, const T* k, const T* v, const T* context,
                              const float* log_sums, const AttentionGradients& g, int64_t begin, int64_t end) {
  AttentionBuffers buffer(s);
  const Mask mask(s.dropout, s.dropout_key);
  std::vector<float> context_row(buffer.dim);  // zeros beyond head_dim, as in the gradient
  for (int64_t pair = begin; pair < end; ++pair) {
    const int64_t b = pair / s.heads, h = pair % s.heads;
    const int64_t rows = length_of(s.target_lengths, b, s.target), keys = length_of(s.source_lengths, b, s.source);
    const int64_t padded = round_up(keys), dim = buffer.dim;
    const int64_t query_at = b * s.target * s.query_stride + h * s.head_dim;
    const int64_t key_at = b * s.source * s.key_stride + h * s.head_dim;
    const int64_t context_at = b * s.target * s.context_stride + h * s.head_dim;
    const T* context_head = context + context_at;
    load_rows(q + query_at, s.query_stride, buffer.q, dim, rows, s.head_dim);
    load_rows(static_cast<const T*>(g.context_gradient) + context_at, s.context_stride, buffer.gradient, dim, rows,
              s.head_dim);
    load_rows(k + key_at, s.key_stride, buffer.k, dim, keys, s.head_dim);
    load_transposed(k + key_at, s.key_stride, buffer.k_transposed, padded, keys, s.head_dim);
    load_transposed(v + key_at, s.key_stride, buffer.v_transposed, padded, keys, s.head_dim);
    // weights P = softmax(scale Q Kᵀ); gradient of the dropped weights dP = dO Vᵀ.
    product(buffer.q, dim, 1, buffer.k_transposed, padded, rows, padded, s.head_dim, buffer.weights, padded);
    product(buffer.gradient, dim, 1, buffer.v_transposed, padded, rows, padded, s.head_dim, buffer.score_gradient,
            padded);
    for (int64_t t = 0; t < rows; ++t) {
      float* p = buffer.weights + t * padded;
      float* d = buffer.score_gradient + t * padded;
      const int64_t visible = s.causal ? std::min(keys, t + 1) : keys;
      load_row(context_head + t * s.context_stride, context_row.data(), s.head_dim);
      Vec products = {};
      for (int64_t e = 0; e < dim; e += kLanes)
        products += load(buffer.gradient + t * dim + e) * load(context_row.data() + e);
      const float inner = sum_lanes(products);  // dO · O of this row: what the softmax's gradient subtracts
      const Vec log_sum = all(log_sums[pair * s.target + t]), scale = all(s.scale);
      for (int64_t j = visible; j < padded; ++j) p[j] = -std::numeric_limits<float>::infinity();
      const int64_t first = (pair * s.target + t) * s.source;
      for (int64_t j = 0; j < padded; j += kLanes) {
        const Vec weight = vec_exp(load(p + j) * scale - log_sum);  // zero where the target does not look
        const Vec kept = s.dropout > 0 ? mask.lanes(first + j) : all(1);
        const Vec of_score = weight * (load(d + j) * kept - all(inner)) * scale;
        store(p + j, weight * kept);
        store(d + j, first_lanes(visible - j, of_score, Vec{}));
      }
    }
    product(buffer.score_gradient, padded, 1, buffer.k, dim, rows, dim, keys, buffer.product, dim);
    store_rows(buffer.product, dim,
               static_cast<T*>(g.query_gradient) + b * s.target * g.query_gradient_stride + h * s.head_dim,
               g.query_gradient_stride, rows, s.target, s.head_dim);
    product(buffer.score_gradient, 1, padded, buffer.q, dim, keys, dim, rows, buffer.product, dim);
    const int64_t key_gradient_at = b * s.source * g.key_gradient_stride + h * s.head_dim;
    store_rows(buffer.product, dim, static_cast<T*>(g.key_gradient) + key_gradient_at, g.key_gradient_stride, keys,
               s.source, s.head_dim);
    product(buffer.weights, 1, padded, buffer.gradient, dim, keys, dim, rows, buffer.product, dim);
    store_rows(buffer.product, dim, static_cast<T*>(g.value_gradient) + key_gradient_at, g.key_gradient_stride, keys,
               s.source, s.head_dim);
  }
}

void attention_backward(Type type, const AttentionShape& s, const void* q, const void* k, const void* v,
                        const void* context, const float* log_sums, const AttentionGradients& g, int64_t begin,
                        int64_t end) {
  if (type == Type::kFloat)
    attention_backward_range(s, static_cast<const float*>(q), static_cast<const float*>(k),
                             static_cast<const float*>(v), static_cast<const float*>(context), log_sums, g, begin, end);
  else
    attention_backward_range(s, static_cast<const uint16_t*>(q), static_cast<const uint16_t*>(k),
                             static_cast<const uint16_t*>(v), static_cast<const uint16_t*>(context), log_sums, g, begin,
                             end);
}

// A head of a query against the keys of its row.
template <typename T>
struct StepHead {
  const float* q;
  const T* const* keys;  // of each position
  int64_t at, count;     // elements from there to the keys of this head; positions
  float* scores;         // of the positions, in whole vectors
  float* context;
};

// The products with the keys. kDim: head_dim where known when compiled, else 0.
template <typename T, int64_t kDim>
void score(const StepHead<T>& head, int64_t head_dim) {
  const auto& [q, keys, at, n, scores, context] = head;
  const int64_t dim = kDim > 0 ? kDim : head_dim, whole = dim / kLanes * kLanes;
  for (int64_t first = 0; first < n; first += kLanes) {
    Vec products[kLanes];
    const int64_t count = std::min(kLanes, n - first);
    for (int64_t j = count; j < kLanes; ++j) products[j] = Vec{};
    for (int64_t j = 0; j < count; ++j) {
      const T* key = keys[first + j] + at;
      products[j] = Vec{};
      for (int64_t d = 0; d < whole; d += kLanes) products[j] += load(q + d) * load(key + d);
    }
    store(scores + first, sums_of_lanes(products));
    for (int64_t d = whole; d < dim; ++d)
      for (int64_t j = 0; j < count; ++j) scores[first + j] += q[d] * to_float(keys[first + j][at + d]);
  }
}

// The values, weighted by what softmax has made of the scores.
template <typename T, int64_t kDim>
void add_values(const StepHead<T>& head, int64_t head_dim, int64_t value_offset) {
  const auto& [q, keys, at, n, scores, context] = head;
  const int64_t dim = kDim > 0 ? kDim : head_dim, whole = dim / kLanes * kLanes, value_at = at + value_offset;
  constexpr int64_t kVecs = kDim == 32 ? 2 : 4;  // independent sums, as many as fit
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

template <typename T, int64_t kDim>
void attention_step_of(const AttentionStep& s, Range pairs) {
  // Some heads at once: each part of the work of a short one is a chain of instructions that wait for each other.
  constexpr int64_t kAtOnce = 4;
  const int64_t group = s.heads / s.key_value_heads, padded = round_up(s.widest);
  std::vector<float> scores(kAtOnce * padded);
  for (int64_t first = pairs.begin; first < pairs.end; first += kAtOnce) {
    const int64_t count = std::min(kAtOnce, pairs.end - first);
    StepHead<T> heads[kAtOnce];
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = (first + i) / s.heads, h = (first + i) % s.heads;
      heads[i] = {.q = s.q + row * s.query_stride + h * s.head_dim,
                  .keys = reinterpret_cast<const T* const*>(s.keys + row * s.widest),
                  .at = s.key_offset + h / group * s.head_dim,
                  .count = s.lengths[row],
                  .scores = scores.data() + i * padded,
                  .context = s.context + (row * s.heads + h) * s.head_dim};
    }
    for (int64_t i = 0; i < count; ++i) score<T, kDim>(heads[i], s.head_dim);
    for (int64_t i = 0; i < count; ++i) softmax_row(heads[i].scores, heads[i].count, round_up(heads[i].count), s.scale);
    for (int64_t i = 0; i < count; ++i) add_values<T, kDim>(heads[i], s.head_dim, s.value_offset);
  }
}

template <typename T>
void attention_step_of(const AttentionStep& s, Range pairs) {
  if (s.head_dim == 64) return attention_step_of<T, 64>(s, pairs);
  if (s.head_dim == 32) return attention_step_of<T, 32>(s, pairs);
  attention_step_of<T, 0>(s, pairs);
}

void attention_step(const AttentionStep& s, Range pairs) {
  if (s.type == Type::kFloat)
    attention_step_of<float>(s, pairs);
  else
    attention_step_of<uint16_t>(s, pairs);
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
