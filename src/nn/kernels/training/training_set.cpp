// A set of training's products, compiled for one instruction set.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "nn/kernels/instruction_set.h"
#include "nn/kernels/packed/word_vectors_impl.h"
#include "nn/kernels/products.h"
#include "nn/kernels/vector_impl.h"

#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

constexpr int64_t kTileRows = NMT_PACKED_ROWS, kVecs = NMT_PACKED_VECS;
static_assert(kPanel % (kVecs * kWidth) == 0);

template <typename Number>
constexpr Type kType = sizeof(Number) == 4 ? Type::kFloat : Type::kBfloat16;
template <typename Number>
constexpr int64_t kInWord = numbers_in_word(kType<Number>);

// sum + the products of the numbers in the words.
template <typename Number>
inline Floats add_word(Floats sum, uint32_t left, Words right) {
  const Words x = left + Words{};
  if constexpr (kInWord<Number> == 1) {
    return sum + bits_as<Floats>(x) * bits_as<Floats>(right);
  } else {
#ifdef __AVX512BF16__
    return bits_as<Floats>(_mm512_dpbf16_ps(bits_as<__m512>(sum), bits_as<__m512bh>(x), bits_as<__m512bh>(right)));
#else
    constexpr uint32_t kUpper = 0xffff0000;
    sum += bits_as<Floats>(x & kUpper) * bits_as<Floats>(right & kUpper);
    return sum + bits_as<Floats>(x << 16) * bits_as<Floats>(right << 16);
#endif
  }
}

// Sums of kRows rows by kVecs vectors.
template <int64_t kRows>
using Sums = Floats[kRows][kVecs];

// Adds the products of `words` words: left has a word a row, `stride` words from row to row and `step` from word to
// word; right has kPanel words a word.
template <typename Number, int64_t kRows>
inline void add_words(Sums<kRows>& sums, const uint32_t* left, int64_t stride, int64_t step, const uint32_t* right,
                      int64_t words) {
  for (int64_t w = 0; w < words; ++w) {
    Words weights[kVecs];
    for (int64_t v = 0; v < kVecs; ++v) weights[v] = load_as<Words>(right + w * kPanel + v * kWidth);
    for (int64_t r = 0; r < kRows; ++r) {
      const auto word = load_as<uint32_t>(left + r * stride + w * step);
      for (int64_t v = 0; v < kVecs; ++v) sums[r][v] = add_word<Number>(sums[r][v], word, weights[v]);
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

// `numbers` numbers of a row as words.
template <typename Number>
inline void convert(const float* row, uint32_t* words, int64_t numbers) {
  if constexpr (kInWord<Number> == 1) {
    std::memcpy(words, row, numbers * sizeof(float));
  } else {
    for (int64_t w = 0; w < numbers / 2; ++w)
      words[w] = from_float<uint16_t>(row[2 * w]) | static_cast<uint32_t>(from_float<uint16_t>(row[2 * w + 1])) << 16;
  }
}

template <typename Number>
void pack(const TrainingWeight& weight, Range panels, uint32_t* to) {
  constexpr int64_t kOutputs = 16;  // whose words are written side by side
  const int64_t words = word_count(kType<Number>, weight.in);
  std::vector<uint32_t> rows(kOutputs * words);
  for (int64_t first = panels.begin * kPanel; first < panels.end * kPanel; first += kOutputs) {
    const int64_t there = std::clamp<int64_t>(weight.out - first, 0, kOutputs);
    for (int64_t r = 0; r < there; ++r)
      convert<Number>(weight.numbers + (first + r) * weight.in, rows.data() + r * words, weight.in);
    std::fill(rows.begin() + there * words, rows.end(), 0);
    uint32_t* panel = to + first / kPanel * words * kPanel + first % kPanel;
    for (int64_t w = 0; w < words; ++w)
      for (int64_t r = 0; r < kOutputs; ++r) panel[w * kPanel + r] = rows[r * words + w];
  }
}

// The rows of one word, of kPanel columns: the first row's number in the lowest bits.
template <typename Number, typename From>
inline void join_rows(const From* first, const From* second, int64_t columns, uint32_t* to) {
  if constexpr (kInWord<Number> == 1) {
    std::memcpy(to, first, columns * sizeof(uint32_t));
  } else {
    const auto bits = [](From x) {
      if constexpr (sizeof(From) == 2)
        return x;
      else
        return from_float<uint16_t>(x);
    };
    for (int64_t i = 0; i < columns; ++i) to[i] = bits(first[i]) | static_cast<uint32_t>(bits(second[i])) << 16;
  }
}

// `words` words of kPanel columns from `column` on, beginning with row `first`: [words, kPanel].
template <typename Number, typename From>
void pack_columns(const From* matrix, int64_t rows, int64_t columns, int64_t first, int64_t words, int64_t column,
                  uint32_t* to) {
  static constexpr std::array<From, kPanel> kZeros = {};
  const int64_t count = std::min(kPanel, columns - column);
  const auto row = [&](int64_t r) { return r < rows ? matrix + r * columns + column : kZeros.data(); };
  for (int64_t w = 0; w < words; ++w, to += kPanel) {
    const int64_t r = first + kInWord<Number> * w;
    join_rows<Number>(row(r), row(r + 1), count, to);
    std::fill(to + count, to + kPanel, 0);
  }
}

template <typename Number, typename From>
void pack_all_rows(const From* matrix, int64_t rows, int64_t columns, Range panels, uint32_t* to) {
  const int64_t words = word_count(kType<Number>, rows);
  for (int64_t panel = panels.begin; panel < panels.end; ++panel)
    pack_columns<Number>(matrix, rows, columns, 0, words, panel * kPanel, to + panel * words * kPanel);
}

template <typename Number>
void pack_transposed(const TrainingWeight& weight, Range panels, uint32_t* to) {
  pack_all_rows<Number>(weight.numbers, weight.out, weight.in, panels, to);
}

template <typename Number>
void pack_rows(const void* x, int64_t rows, int64_t columns, Range panels, uint32_t* to) {
  pack_all_rows<Number>(static_cast<const Number*>(x), rows, columns, panels, to);
}

inline void store_numbers(Floats x, float* to) { store_as(to, x); }
inline void store_numbers(Floats x, uint16_t* to) {
#ifdef __AVX512BF16__
  const __m256bh narrow = _mm512_cvtneps_pbh(bits_as<__m512>(x));
  std::memcpy(to, &narrow, sizeof narrow);
#else
  for (int64_t i = 0; i < kWidth; ++i) to[i] = from_float<uint16_t>(x[i]);
#endif
}

// `to` and what stands behind it up to `count` numbers.
template <typename Number>
inline void store_part(Floats x, int64_t count, Number* to) {
  if (count >= kWidth) return store_numbers(x, to);
  Number part[kWidth];
  store_numbers(x, part);
  std::copy_n(part, std::max<int64_t>(count, 0), to);
}

template <typename Number, int64_t kRows>
void multiply_tile(const TrainingProduct& p, int64_t row, int64_t panel, int64_t column) {
  const int64_t words = word_count(kType<Number>, p.in), first = panel * kPanel + column;
  Sums<kRows> sums = {};
  add_words<Number, kRows>(sums, static_cast<const uint32_t*>(p.x) + row * words, words, 1,
                           p.panels + panel * words * kPanel + column, words);
  for (int64_t v = 0; v < kVecs; ++v) {
    const int64_t left = p.out - first - v * kWidth;
    if (left <= 0) return;
    Floats bias = {};
    if (p.bias) std::memcpy(&bias, p.bias + first + v * kWidth, std::min(left, kWidth) * sizeof(float));
    for (int64_t r = 0; r < kRows; ++r)
      store_part(sums[r][v] + bias, left, static_cast<Number*>(p.y) + (row + r) * p.out + first + v * kWidth);
  }
}

template <typename Number>
void multiply(const TrainingProduct& p, Range rows) {
  constexpr int64_t kChunk = 16 * kTileRows;  // rows of x and y that stay in the second-level cache
  for (int64_t first = rows.begin; first < rows.end; first += kChunk) {
    const int64_t end = std::min(rows.end, first + kChunk);
    for (int64_t panel = 0; panel < panel_count(p.out); ++panel)
      for (int64_t row = first; row < end; row += kTileRows)
        with_rows(std::min(kTileRows, end - row), [&](auto count) {
          for (int64_t column = 0; column < kPanel; column += kVecs * kWidth)
            multiply_tile<Number, count()>(p, row, panel, column);
        });
  }
}

// Adds to `columns` columns of kRows rows, `stride` numbers apart. Sums begin at zero: the compiler keeps only those in
// registers.
template <typename Number, int64_t kRows>
[[gnu::noinline]] void add_tile(const uint32_t* left, const uint32_t* right, int64_t words, float* to, int64_t stride,
                                int64_t columns) {
  Sums<kRows> sums = {};
  add_words<Number, kRows>(sums, left, 1, kPanel, right, words);
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

template <typename Number>
void add_bias(const uint32_t* left, int64_t words, float* to, int64_t count) {
  constexpr uint32_t kOnes = kInWord<Number> == 1 ? 0x3f800000 : 0x3f803f80;  // 1 in each of its numbers
  float all[kPanel] = {};
  for (int64_t column = 0; column < kPanel; column += kVecs * kWidth) {
    Sums<1> sums = {};
    add_words<Number, 1>(sums, &kOnes, 0, 0, left + column, words);
    for (int64_t v = 0; v < kVecs; ++v) store_as(all + column + v * kWidth, sums[0][v]);
  }
  for (int64_t i = 0; i < count; ++i) to[i] += all[i];
}

// All inputs of kPanel outputs or fewer.
template <typename Number>
void add_panel(const TrainingGradient& g, Range outputs, Range inputs) {
  constexpr int64_t kWords = 512;  // of kPanel columns: they stay in the second-level cache
  static thread_local std::vector<uint32_t> y_panel(kWords * kPanel);
  const int64_t all = word_count(kType<Number>, g.rows), count = outputs.end - outputs.begin;
  for (int64_t first = 0; first < all; first += kWords) {
    const int64_t words = std::min(kWords, all - first);
    pack_columns<Number>(static_cast<const Number*>(g.y_gradient), g.rows, g.out, kInWord<Number> * first, words,
                         outputs.begin, y_panel.data());
    if (g.bias_gradient && inputs.begin == 0)
      add_bias<Number>(y_panel.data(), words, g.bias_gradient + outputs.begin, count);
    for (int64_t input = inputs.begin; input < inputs.end; input += kVecs * kWidth) {
      const uint32_t* x = g.x_panels + (input / kPanel * all + first) * kPanel + input % kPanel;
      for (int64_t r = 0; r < count; r += kTileRows)
        with_rows(std::min(kTileRows, count - r), [&](auto rows) {
          add_tile<Number, rows()>(y_panel.data() + r, x, words, g.weight_gradient + (outputs.begin + r) * g.in + input,
                                   g.in, inputs.end - input);
        });
    }
  }
}

template <typename Number>
void add_gradient(const TrainingGradient& g, Range outputs, Range inputs) {
  for (int64_t output = outputs.begin; output < outputs.end; output += kPanel)
    add_panel<Number>(g, {output, std::min(outputs.end, output + kPanel)}, inputs);
}

template <typename Number>
constexpr TrainingKernels training_set() {
  return {NMT_KERNEL_NAME,  kType<Number>,     pack<Number>,        pack_transposed<Number>,
          multiply<Number>, pack_rows<Number>, add_gradient<Number>};
}

}  // namespace

extern const TrainingKernels kFloatTraining, kBfloat16Training;
const TrainingKernels kFloatTraining = training_set<float>(), kBfloat16Training = training_set<uint16_t>();

}  // namespace nmt::kernels::NMT_KERNEL_SET
