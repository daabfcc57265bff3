// Included by kernels_<instruction set>.cpp after NMT_KERNEL_SET and NMT_ROW_BLOCK are defined; no include guard by design.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "nn/kernels/kernels.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

constexpr int64_t kLanes = 16;
static_assert(kPanel == 2 * kLanes);
typedef float Vec __attribute__((vector_size(64)));
typedef int32_t IntVec __attribute__((vector_size(64)));

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

// ---- dropout ---------------------------------------------------------------------------------------------------------------

// 32 mixed bits of (key, counter): two rounds of a 32-bit finaliser; each gives two 16-bit draws.
inline uint32_t draw(uint32_t counter, uint32_t low, uint32_t high) {
  uint32_t x = counter * 0x9e3779b9u + low;
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
    const uint32_t bits = draw(static_cast<uint32_t>(i >> 1) ^ static_cast<uint32_t>((i >> 33) * 0x85ebca6bu), low, high);
    return ((i & 1 ? bits >> 16 : bits & 0xffff) < threshold) ? 0.0f : factor;
  }
};

template <typename T>
void dropout_range(T* out, const T* x, const T* residual, float p, uint64_t key, int64_t begin, int64_t end) {
  const Mask mask(p, key);
  constexpr int64_t kBlock = 256;
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
    if (residual) {
      for (int64_t j = 0; j < n; ++j)
        out[start + j] = from_float<T>(to_float(residual[start + j]) + to_float(x[start + j]) * keep[j]);
    } else {
      for (int64_t j = 0; j < n; ++j) out[start + j] = from_float<T>(to_float(x[start + j]) * keep[j]);
    }
    start += n;
  }
}

void dropout(Type type, void* out, const void* x, const void* residual, float p, uint64_t key, int64_t begin, int64_t end) {
  if (type == Type::kFloat)
    dropout_range(static_cast<float*>(out), static_cast<const float*>(x), static_cast<const float*>(residual), p, key, begin, end);
  else
    dropout_range(static_cast<uint16_t*>(out), static_cast<const uint16_t*>(x), static_cast<const uint16_t*>(residual), p, key,
                  begin, end);
}

// ---- small products --------------------------------------------------------------------------------------------------------

// C[rows, columns] = A B, with A[i, l] at a[i * a_row + l * a_column] and B [depth, columns] row-major, columns a multiple of 16.
// Each element is one ascending chain of sums over depth.
template <int64_t kRows, int64_t kVecs>
inline void product_block(const float* a, int64_t a_row, int64_t a_column, const float* b, int64_t b_stride, int64_t depth,
                          float* c, int64_t c_stride) {
  Vec acc[kRows][kVecs] = {};
  for (int64_t l = 0; l < depth; ++l) {
    Vec right[kVecs];
    for (int64_t v = 0; v < kVecs; ++v) right[v] = load(b + l * b_stride + v * kLanes);
    for (int64_t r = 0; r < kRows; ++r) {
      const Vec left = all(a[r * a_row + l * a_column]);
      for (int64_t v = 0; v < kVecs; ++v) acc[r][v] += left * right[v];
    }
  }
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t v = 0; v < kVecs; ++v) store(c + r * c_stride + v * kLanes, acc[r][v]);
}

template <int64_t kVecs>
inline void product_columns(const float* a, int64_t a_row, int64_t a_column, const float* b, int64_t b_stride, int64_t rows,
                            int64_t depth, float* c, int64_t c_stride) {
  constexpr int64_t kRows = NMT_ROW_BLOCK;
  int64_t i = 0;
  for (; i + kRows <= rows; i += kRows)
    product_block<kRows, kVecs>(a + i * a_row, a_row, a_column, b, b_stride, depth, c + i * c_stride, c_stride);
  for (; i < rows; ++i)
    product_block<1, kVecs>(a + i * a_row, a_row, a_column, b, b_stride, depth, c + i * c_stride, c_stride);
}

void product(const float* a, int64_t a_row, int64_t a_column, const float* b, int64_t b_stride, int64_t rows, int64_t columns,
             int64_t depth, float* c, int64_t c_stride) {
  int64_t j = 0;
  for (; j + 2 * kLanes <= columns; j += 2 * kLanes)
    product_columns<2>(a, a_row, a_column, b + j, b_stride, rows, depth, c + j, c_stride);
  for (; j < columns; j += kLanes) product_columns<1>(a, a_row, a_column, b + j, b_stride, rows, depth, c + j, c_stride);
}

// ---- attention -------------------------------------------------------------------------------------------------------------

inline int64_t round_up(int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

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
// to [n, columns] = transposed from [rows, n]; columns beyond rows are zero.
template <typename T>
void load_transposed(const T* from, int64_t stride, float* to, int64_t columns, int64_t rows, int64_t n) {
  for (int64_t d = 0; d < n; ++d) {
    float* line = to + d * columns;
    for (int64_t t = 0; t < rows; ++t) line[t] = to_float(from[t * stride + d]);
    for (int64_t t = rows; t < round_up(rows); ++t) line[t] = 0;
  }
}

inline int64_t length_of(const int64_t* lengths, int64_t b, int64_t all_of_them) { return lengths ? lengths[b] : all_of_them; }

// Softmax of one row's first `n` scores, in place, zeros behind up to `padded`; returns the log of the sum of exp.
inline float softmax_row(float* row, int64_t n, int64_t padded, float scale) {
  for (int64_t j = n; j < padded; ++j) row[j] = -std::numeric_limits<float>::infinity();
  Vec top = all(-std::numeric_limits<float>::infinity());
  for (int64_t j = 0; j < padded; j += kLanes) {
    const Vec x = load(row + j) * all(scale);
    store(row + j, x);
    top = x > top ? x : top;
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
  return maximum + std::log(total);
}

// Drops weights of row t of the pair: index in the [batch, heads, target, source] tensor of weights.
inline void drop_row(float* row, int64_t n, const Mask& mask, int64_t first) {
  for (int64_t j = 0; j < n; ++j) row[j] *= mask(first + j);
}

template <typename T>
void attention_range(const AttentionShape& s, const T* q, const T* k, const T* v, T* context, float* log_sums, int64_t begin,
                     int64_t end) {
  AttentionBuffers buffer(s);
  const Mask mask(s.dropout, s.dropout_key);
  for (int64_t pair = begin; pair < end; ++pair) {
    const int64_t b = pair / s.heads, h = pair % s.heads;
    const int64_t rows = length_of(s.target_lengths, b, s.target), keys = length_of(s.source_lengths, b, s.source);
    const int64_t padded = round_up(keys);
    const T* k_head = k + b * s.source * s.key_stride + h * s.head_dim;
    const T* v_head = v + b * s.source * s.key_stride + h * s.head_dim;
    load_rows(q + b * s.target * s.query_stride + h * s.head_dim, s.query_stride, buffer.q, buffer.dim, rows, s.head_dim);
    load_transposed(k_head, s.key_stride, buffer.k_transposed, padded, keys, s.head_dim);
    load_rows(v_head, s.key_stride, buffer.v, buffer.dim, keys, s.head_dim);
    product(buffer.q, buffer.dim, 1, buffer.k_transposed, padded, rows, padded, s.head_dim, buffer.weights, padded);
    for (int64_t t = 0; t < rows; ++t) {
      float* row = buffer.weights + t * padded;
      const int64_t visible = s.causal ? std::min(keys, t + 1) : keys;
      const float log_sum = softmax_row(row, visible, padded, s.scale);
      if (log_sums) log_sums[pair * s.target + t] = log_sum;
      if (s.dropout > 0) drop_row(row, visible, mask, (pair * s.target + t) * s.source);
    }
    product(buffer.weights, padded, 1, buffer.v, buffer.dim, rows, buffer.dim, keys, buffer.product, buffer.dim);
    T* out = context + b * s.target * s.context_stride + h * s.head_dim;
    for (int64_t t = 0; t < rows; ++t) store_row(buffer.product + t * buffer.dim, out + t * s.context_stride, s.head_dim);
    for (int64_t t = rows; t < s.target; ++t) std::memset(out + t * s.context_stride, 0, s.head_dim * sizeof(T));
  }
}

void attention(Type type, const AttentionShape& s, const void* q, const void* k, const void* v, void* context, float* log_sums,
               int64_t begin, int64_t end) {
  if (type == Type::kFloat)
    attention_range(s, static_cast<const float*>(q), static_cast<const float*>(k), static_cast<const float*>(v),
                    static_cast<float*>(context), log_sums, begin, end);
  else
    attention_range(s, static_cast<const uint16_t*>(q), static_cast<const uint16_t*>(k), static_cast<const uint16_t*>(v),
                    static_cast<uint16_t*>(context), log_sums, begin, end);
}

template <typename T>
void store_rows(const float* from, int64_t from_stride, T* to, int64_t stride, int64_t rows, int64_t all_rows, int64_t n) {
  for (int64_t t = 0; t < rows; ++t) store_row(from + t * from_stride, to + t * stride, n);
  for (int64_t t = rows; t < all_rows; ++t) std::memset(to + t * stride, 0, n * sizeof(T));
}

template <typename T>
void attention_backward_range(const AttentionShape& s, const T* q, const T* k, const T* v, const T* context,
                              const float* log_sums, const AttentionGradients& g, int64_t begin, int64_t end) {
  AttentionBuffers buffer(s);
  const Mask mask(s.dropout, s.dropout_key);
  std::vector<float> kept(round_up(s.source));
  for (int64_t pair = begin; pair < end; ++pair) {
    const int64_t b = pair / s.heads, h = pair % s.heads;
    const int64_t rows = length_of(s.target_lengths, b, s.target), keys = length_of(s.source_lengths, b, s.source);
    const int64_t padded = round_up(keys), dim = buffer.dim;
    const int64_t query_at = b * s.target * s.query_stride + h * s.head_dim;
    const int64_t key_at = b * s.source * s.key_stride + h * s.head_dim;
    const int64_t context_at = b * s.target * s.context_stride + h * s.head_dim;
    const T* context_head = context + context_at;
    load_rows(q + query_at, s.query_stride, buffer.q, dim, rows, s.head_dim);
    load_rows(static_cast<const T*>(g.context_gradient) + context_at, s.context_stride, buffer.gradient, dim, rows, s.head_dim);
    load_rows(k + key_at, s.key_stride, buffer.k, dim, keys, s.head_dim);
    load_transposed(k + key_at, s.key_stride, buffer.k_transposed, padded, keys, s.head_dim);
    load_transposed(v + key_at, s.key_stride, buffer.v_transposed, padded, keys, s.head_dim);
    // weights P = softmax(scale Q Kᵀ); gradient of the dropped weights dP = dO Vᵀ.
    product(buffer.q, dim, 1, buffer.k_transposed, padded, rows, padded, s.head_dim, buffer.weights, padded);
    product(buffer.gradient, dim, 1, buffer.v_transposed, padded, rows, padded, s.head_dim, buffer.score_gradient, padded);
    for (int64_t t = 0; t < rows; ++t) {
      float* p = buffer.weights + t * padded;
      float* d = buffer.score_gradient + t * padded;
      const int64_t visible = s.causal ? std::min(keys, t + 1) : keys;
      float inner = 0;  // dO · O of this row: what the softmax's gradient subtracts
      for (int64_t e = 0; e < s.head_dim; ++e) inner += buffer.gradient[t * dim + e] * to_float(context_head[t * s.context_stride + e]);
      const Vec log_sum = all(log_sums[pair * s.target + t]), scale = all(s.scale);
      for (int64_t j = visible; j < padded; ++j) p[j] = -std::numeric_limits<float>::infinity();
      for (int64_t j = 0; j < padded; j += kLanes) store(p + j, vec_exp(load(p + j) * scale - log_sum));
      if (s.dropout > 0) {
        for (int64_t j = 0; j < visible; ++j) kept[j] = mask((pair * s.target + t) * s.source + j);
        for (int64_t j = 0; j < visible; ++j) d[j] = p[j] * (d[j] * kept[j] - inner) * s.scale;
        for (int64_t j = 0; j < visible; ++j) p[j] *= kept[j];
      } else {
        for (int64_t j = 0; j < visible; ++j) d[j] = p[j] * (d[j] - inner) * s.scale;
      }
      for (int64_t j = visible; j < padded; ++j) d[j] = 0;
    }
    product(buffer.score_gradient, padded, 1, buffer.k, dim, rows, dim, keys, buffer.product, dim);
    store_rows(buffer.product, dim, static_cast<T*>(g.query_gradient) + b * s.target * g.query_gradient_stride + h * s.head_dim,
               g.query_gradient_stride, rows, s.target, s.head_dim);
    product(buffer.score_gradient, 1, padded, buffer.q, dim, keys, dim, rows, buffer.product, dim);
    const int64_t key_gradient_at = b * s.source * g.key_gradient_stride + h * s.head_dim;
    store_rows(buffer.product, dim, static_cast<T*>(g.key_gradient) + key_gradient_at, g.key_gradient_stride, keys, s.source,
               s.head_dim);
    product(buffer.weights, 1, padded, buffer.gradient, dim, keys, dim, rows, buffer.product, dim);
    store_rows(buffer.product, dim, static_cast<T*>(g.value_gradient) + key_gradient_at, g.key_gradient_stride, keys, s.source,
               s.head_dim);
  }
}

void attention_backward(Type type, const AttentionShape& s, const void* q, const void* k, const void* v, const void* context,
                        const float* log_sums, const AttentionGradients& g, int64_t begin, int64_t end) {
  if (type == Type::kFloat)
    attention_backward_range(s, static_cast<const float*>(q), static_cast<const float*>(k), static_cast<const float*>(v),
                             static_cast<const float*>(context), log_sums, g, begin, end);
  else
    attention_backward_range(s, static_cast<const uint16_t*>(q), static_cast<const uint16_t*>(k), static_cast<const uint16_t*>(v),
                             static_cast<const uint16_t*>(context), log_sums, g, begin, end);
}

void attention_step(const AttentionStep& s, Range pairs) {
  const int64_t model = s.heads * s.head_dim, whole = s.head_dim / kLanes * kLanes;
  std::vector<float> scores, context(round_up(s.head_dim));
  for (int64_t pair = pairs.begin; pair < pairs.end; ++pair) {
    const int64_t row = pair / s.heads, h = pair % s.heads;
    const int64_t memory = s.memory_of_row ? s.memory_of_row[row] : row;
    const int64_t n = s.lengths[memory], padded = round_up(n);
    const float* q = s.q + row * model + h * s.head_dim;
    const float* keys = s.keys + memory * s.memory_stride + h * s.head_dim;
    const float* values = s.values + memory * s.memory_stride + h * s.head_dim;
    if (static_cast<int64_t>(scores.size()) < padded) scores.resize(padded);
    for (int64_t j = 0; j < n; ++j) {
      const float* key = keys + j * model;
      Vec sum = {};
      for (int64_t d = 0; d < whole; d += kLanes) sum += load(q + d) * load(key + d);
      float score = sum_lanes(sum);
      for (int64_t d = whole; d < s.head_dim; ++d) score += q[d] * key[d];
      scores[j] = score;
    }
    softmax_row(scores.data(), n, padded, s.scale);
    std::fill(context.begin(), context.end(), 0.0f);
    for (int64_t j = 0; j < n; ++j) {
      const float* value = values + j * model;
      for (int64_t d = 0; d < s.head_dim; ++d) context[d] += scores[j] * value[d];
    }
    std::copy_n(context.data(), s.head_dim, s.context + row * model + h * s.head_dim);
  }
}

// ---- cross-entropy ---------------------------------------------------------------------------------------------------------

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

// ---- linear for decoding ---------------------------------------------------------------------------------------------------

// Panels of kPanel output columns: packed[(panel * in + l) * kPanel + c] = weight[panel * kPanel + c, l], zero beyond `out`.
void pack(const float* weight, int64_t out, int64_t in, float* packed) {
  for (int64_t panel = 0; panel * kPanel < out; ++panel)
    for (int64_t l = 0; l < in; ++l)
      for (int64_t c = 0; c < kPanel; ++c) {
        const int64_t row = panel * kPanel + c;
        packed[(panel * in + l) * kPanel + c] = row < out ? weight[row * in + l] : 0.0f;
      }
}

template <int64_t kRows>
void linear_block(const LinearTask& task, int64_t row, int64_t panel) {
  float block[kRows * kPanel];
  product_block<kRows, 2>(task.x + row * task.in, task.in, 1, task.packed + panel * kPanel * task.in, kPanel, task.in, block,
                          kPanel);
  const int64_t column = panel * kPanel, columns = std::min(kPanel, task.out - column);
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      task.y[(row + r) * task.out + column + c] = block[r * kPanel + c] + (task.bias ? task.bias[column + c] : 0.0f);
}

void linear(const LinearTask& task, Range rows, Range panels) {
  constexpr int64_t kRows = NMT_ROW_BLOCK;
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    int64_t r = rows.begin;
    for (; r + kRows <= rows.end; r += kRows) linear_block<kRows>(task, r, panel);
    for (; r < rows.end; ++r) linear_block<1>(task, r, panel);
  }
}

}  // namespace

extern const Kernels kSet;
const Kernels kSet = {NMT_KERNEL_NAME, dropout, attention, attention_backward, attention_step, cross_entropy, pack, linear};

}  // namespace nmt::kernels::NMT_KERNEL_SET
