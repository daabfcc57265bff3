// A set of training's products: included by training_<instruction set>.cpp after NMT_KERNEL_SET, NMT_KERNEL_NAME,
// NMT_PACKED_WIDTH, NMT_PACKED_ROWS and NMT_PACKED_VECS are defined (see packed_product_impl.h).
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "nn/kernels/packed/word_vectors_impl.h"
#include "nn/kernels/training/training_product.h"
#include "nn/kernels/vector_impl.h"

#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

constexpr int64_t kTileRows = NMT_PACKED_ROWS, kVecs = NMT_PACKED_VECS;
static_assert(kPanel % (kVecs * kWidth) == 0);

// sum + the products of both halves of the words.
inline Floats add_pairs(Floats sum, uint32_t left, Words right) {
  const Words x = left + Words{};
#ifdef __AVX512BF16__
  return bits_as<Floats>(_mm512_dpbf16_ps(bits_as<__m512>(sum), bits_as<__m512bh>(x), bits_as<__m512bh>(right)));
#else
  constexpr uint32_t kUpper = 0xffff0000;
  sum += bits_as<Floats>(x & kUpper) * bits_as<Floats>(right & kUpper);
  return sum + bits_as<Floats>(x << 16) * bits_as<Floats>(right << 16);
#endif
}

// Sums of kRows rows by kVecs vectors.
template <int64_t kRows>
using Sums = Floats[kRows][kVecs];

// Adds the products of `words` words: left has a word a row, `stride` words from row to row and `step` from word to
// word; right has kPanel words a word.
template <int64_t kRows>
inline void add_words(Sums<kRows>& sums, const uint32_t* left, int64_t stride, int64_t step, const uint32_t* right,
                      int64_t words) {
  for (int64_t w = 0; w < words; ++w) {
    Words weights[kVecs];
    for (int64_t v = 0; v < kVecs; ++v) weights[v] = load_as<Words>(right + w * kPanel + v * kWidth);
    for (int64_t r = 0; r < kRows; ++r) {
      const auto word = load_as<uint32_t>(left + r * stride + w * step);
      for (int64_t v = 0; v < kVecs; ++v) sums[r][v] = add_pairs(sums[r][v], word, weights[v]);
    }
  }
}

// body(std::integral_constant<int64_t, rows>()) for 1 to kTileRows rows.
template <int64_t kRows = kTileRows, typename Body>
inline void with_rows(int64_t rows, Body&& body) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return with_rows<kRows - 1>(rows, body);
  }
  body(std::integral_constant<int64_t, kRows>());
}

// Two rows of numbers as words: the first row's number in the lower half.
inline void interleave(const uint16_t* first, const uint16_t* second, uint32_t* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = first[i] | static_cast<uint32_t>(second[i]) << 16;
}

void pack(const float* weight, const TrainingWeight& packed, Range panels) {
  const int64_t in = packed.in, out = packed.out, words = in / 2, columns = panel_count(in) * kPanel;
  std::vector<uint16_t> rows(2 * columns);
  for (int64_t output = panels.begin * kPanel; output < panels.end * kPanel; output += 2) {
    const bool is_there = output < out;
    for (int64_t r = 0; r < 2; ++r) {
      uint16_t* row = rows.data() + r * columns;
      if (is_there)
        store_row(weight + (output + r) * in, row, in);
      else
        std::fill_n(row, in, uint16_t{0});
      uint32_t* to = packed.panels + output / kPanel * words * kPanel + output % kPanel + r;
      for (int64_t w = 0; w < words; ++w) std::memcpy(to + w * kPanel, row + 2 * w, 4);
    }
    if (!is_there) continue;
    for (int64_t panel = 0; panel < columns / kPanel; ++panel)
      interleave(rows.data() + panel * kPanel, rows.data() + columns + panel * kPanel,
                 packed.transposed + (panel * (out / 2) + output / 2) * kPanel, kPanel);
  }
}

#ifdef __AVX512BF16__
inline void store_bfloat16(Floats x, uint16_t* to) {
  const __m256bh narrow = _mm512_cvtneps_pbh(bits_as<__m512>(x));
  std::memcpy(to, &narrow, sizeof narrow);
}
#else
inline void store_bfloat16(Floats x, uint16_t* to) {
  for (int64_t i = 0; i < kWidth; ++i) to[i] = from_float<uint16_t>(x[i]);
}
#endif

// `to` and what stands behind it up to `count` numbers.
template <typename Store>
inline void store_part(int64_t count, uint16_t* to, Store&& store) {
  if (count >= kWidth) return store(to);
  uint16_t part[kWidth];
  store(part);
  std::copy_n(part, std::max<int64_t>(count, 0), to);
}

template <int64_t kRows>
void multiply_tile(const TrainingProduct& p, int64_t row, int64_t panel, int64_t column) {
  const int64_t words = p.in / 2, first = panel * kPanel + column;
  Sums<kRows> sums = {};
  add_words<kRows>(sums, reinterpret_cast<const uint32_t*>(p.x + row * p.in), words, 1,
                   p.panels + panel * words * kPanel + column, words);
  for (int64_t v = 0; v < kVecs; ++v) {
    const int64_t left = p.out - first - v * kWidth;
    if (left <= 0) return;
    Floats bias = {};
    if (p.bias) std::memcpy(&bias, p.bias + first + v * kWidth, std::min(left, kWidth) * sizeof(float));
    for (int64_t r = 0; r < kRows; ++r)
      store_part(left, p.y + (row + r) * p.out + first + v * kWidth,
                 [&](uint16_t* to) { store_bfloat16(sums[r][v] + bias, to); });
  }
}

void multiply(const TrainingProduct& p, Range rows) {
  constexpr int64_t kChunk = 16 * kTileRows;  // rows of x and y that stay in the second-level cache
  for (int64_t first = rows.begin; first < rows.end; first += kChunk) {
    const int64_t end = std::min(rows.end, first + kChunk);
    for (int64_t panel = 0; panel < panel_count(p.out); ++panel)
      for (int64_t row = first; row < end; row += kTileRows)
        with_rows(std::min(kTileRows, end - row), [&](auto count) {
          for (int64_t column = 0; column < kPanel; column += kVecs * kWidth)
            multiply_tile<count()>(p, row, panel, column);
        });
  }
}

// Rows [first, first + 2 * pairs) of kPanel columns from `column` on: [pairs, kPanel] words. Beyond the matrix is zero.
void pack_pairs(const uint16_t* matrix, int64_t rows, int64_t columns, int64_t first, int64_t pairs, int64_t column,
                uint32_t* to) {
  const int64_t count = std::min(kPanel, columns - column);
  const auto row = [&](int64_t r) { return matrix + r * columns + column; };
  for (int64_t pair = 0; pair < pairs; ++pair, to += kPanel) {
    const int64_t r = first + 2 * pair;
    if (count == kPanel && r + 1 < rows) {
      interleave(row(r), row(r + 1), to, kPanel);
      continue;
    }
    for (int64_t i = 0; i < kPanel; ++i)
      to[i] = i < count ? row(r)[i] | (r + 1 < rows ? static_cast<uint32_t>(row(r + 1)[i]) << 16 : 0) : 0;
  }
}

// Adds to `columns` columns of kRows rows, `stride` numbers apart. Sums begin at zero: the compiler keeps only those in
// registers.
template <int64_t kRows>
[[gnu::noinline]] void add_tile(const uint32_t* left, const uint32_t* right, int64_t pairs, float* to, int64_t stride,
                                int64_t columns) {
  Sums<kRows> sums = {};
  add_words<kRows>(sums, left, 1, kPanel, right, pairs);
  for (int64_t v = 0; v < kVecs && v * kWidth < columns; ++v) {
    const int64_t count = std::min(kWidth, columns - v * kWidth);
    for (int64_t r = 0; r < kRows; ++r) {
      float* at = to + r * stride + v * kWidth;
      if (count == kWidth)
        store_as(at, load_as<Floats>(at) + sums[r][v]);
      else
        for (int64_t i = 0; i < count; ++i) at[i] += sums[r][v][i];
    }
  }
}

void add_bias(const uint32_t* left, int64_t pairs, float* to, int64_t count) {
  constexpr uint32_t kOnes = 0x3f803f80;  // 1, twice
  float all[kPanel] = {};
  for (int64_t column = 0; column < kPanel; column += kVecs * kWidth) {
    Sums<1> sums = {};
    add_words<1>(sums, &kOnes, 0, 0, left + column, pairs);
    for (int64_t v = 0; v < kVecs; ++v) store_as(all + column + v * kWidth, sums[0][v]);
  }
  for (int64_t i = 0; i < count; ++i) to[i] += all[i];
}

void pair_rows(const uint16_t* x, int64_t rows, int64_t columns, Range panels, uint32_t* pairs) {
  const int64_t count = pair_count(rows);
  for (int64_t panel = panels.begin; panel < panels.end; ++panel)
    pack_pairs(x, rows, columns, 0, count, panel * kPanel, pairs + panel * count * kPanel);
}

// All inputs of kPanel outputs or fewer.
void add_panel(const TrainingGradient& g, Range outputs, Range inputs) {
  constexpr int64_t kPairs = 512;  // of kPanel columns: they stay in the second-level cache
  static thread_local std::vector<uint32_t> y_pairs(kPairs * kPanel);
  const int64_t all = pair_count(g.rows), count = outputs.end - outputs.begin;
  for (int64_t first = 0; first < all; first += kPairs) {
    const int64_t pairs = std::min(kPairs, all - first);
    pack_pairs(g.y_gradient, g.rows, g.out, 2 * first, pairs, outputs.begin, y_pairs.data());
    if (g.bias_gradient && inputs.begin == 0) add_bias(y_pairs.data(), pairs, g.bias_gradient + outputs.begin, count);
    for (int64_t input = inputs.begin; input < inputs.end; input += kVecs * kWidth) {
      const uint32_t* x = g.x_pairs + (input / kPanel * all + first) * kPanel + input % kPanel;
      for (int64_t r = 0; r < count; r += kTileRows)
        with_rows(std::min(kTileRows, count - r), [&](auto rows) {
          add_tile<rows()>(y_pairs.data() + r, x, pairs, g.weight_gradient + (outputs.begin + r) * g.in + input, g.in,
                           inputs.end - input);
        });
    }
  }
}

void add_gradient(const TrainingGradient& g, Range outputs, Range inputs) {
  for (int64_t output = outputs.begin; output < outputs.end; output += kPanel)
    add_panel(g, {output, std::min(outputs.end, output + kPanel)}, inputs);
}

}  // namespace

extern const TrainingKernels kTrainingSet;
const TrainingKernels kTrainingSet = {NMT_KERNEL_NAME, pack, multiply, pair_rows, add_gradient};

}  // namespace nmt::kernels::NMT_KERNEL_SET
