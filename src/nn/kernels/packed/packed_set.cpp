// A set of packed products, compiled for one instruction set.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "nn/kernels/instruction_set.h"
#include "nn/kernels/packed/dot_impl.h"
#include "nn/kernels/packed/quantize_impl.h"
#include "nn/kernels/packed/word_vectors_impl.h"
#include "nn/kernels/products.h"
#include "nn/kernels/vector_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// The words of one output, kPanel words apart.
void pack_row(const float* row, const PackedWeight& packed, uint32_t* words, float inverse_scale) {
  const int64_t in = packed.in, count = words_in_row(packed.format, in), each = numbers_in_word(packed.format);
  for (int64_t k = 0; k < count; ++k) {
    uint32_t word = 0;
    for (int64_t i = 0; i < each && k * each + i < in; ++i) {
      const float x = row[k * each + i];
      if (packed.format == WeightFormat::kFloat32) word = bits_as<uint32_t>(x);
      if (packed.format == WeightFormat::kBfloat16) word |= uint32_t{from_float<uint16_t>(x)} << (16 * i);
      if (packed.format == WeightFormat::kInt8) word |= uint32_t{uint8_t(to_int8(x, inverse_scale))} << (8 * i);
    }
    words[k * kPanel] = word;
  }
}

void pack(const float* weight, const PackedWeight& packed, Range panels) {
  const int64_t words = words_in_row(packed.format, packed.in);
  for (int64_t output = panels.begin * kPanel; output < panels.end * kPanel; ++output) {
    uint32_t* to = packed.panels + output / kPanel * words * kPanel + output % kPanel;
    const bool int8 = packed.format == WeightFormat::kInt8;
    if (output >= packed.out) {
      for (int64_t k = 0; k < words; ++k) to[k * kPanel] = 0;
      if (int8) packed.scales[output] = 0, packed.sums[output] = 0;
      continue;
    }
    const float* row = weight + output * packed.in;
    pack_row(row, packed, to, int8 ? quantize_row(row, packed, output) : 0);
  }
}

int64_t words_of_x(WeightFormat format, int64_t in) {
  const int64_t parts = format == WeightFormat::kBfloat16 ? Dot<WeightFormat::kBfloat16>::kParts
                        : format == WeightFormat::kInt8   ? Dot<WeightFormat::kInt8>::kParts
                                                          : 1;
  return words_in_row(format, in) * parts;
}

// The row in float32, rounded to bfloat16.
[[maybe_unused]] void round_row(const float* x, float* to, int64_t in) {
  for (int64_t k = 0; k < in; ++k) to[k] = bits_as<float>(uint32_t{from_float<uint16_t>(x[k])} << 16);
}

void prepare(WeightFormat format, const float* x, int64_t in, Range rows, void* words, RowScale* scales) {
  const int64_t row_bytes = words_of_x(format, in) * 4;
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    uint8_t* to = static_cast<uint8_t*>(words) + r * row_bytes;
    if (format == WeightFormat::kInt8) {
      scales[r] = quantize(x + r * in, in, to);
    } else if (Dot<WeightFormat::kBfloat16>::kParts == 2) {
      float* numbers = reinterpret_cast<float*>(to);
      round_row(x + r * in, numbers, in);
      if (in % 2) numbers[in] = 0;
    } else {
      uint16_t* numbers = reinterpret_cast<uint16_t*>(to);
      store_row(x + r * in, numbers, in);
      if (in % 2) numbers[in] = 0;
    }
  }
}

#define NMT_INLINE __attribute__((always_inline))
// body(row, vector) of all, written out: what a loop indexes does not stay in registers.
template <int64_t kRows, int64_t kVecs, typename Body>
inline NMT_INLINE void unrolled(Body&& body) {
  [&]<int64_t... i>(std::integer_sequence<int64_t, i...>) NMT_INLINE { (body(i / kVecs, i % kVecs), ...); }
  (std::make_integer_sequence<int64_t, kRows * kVecs>());
}

// kRows rows of kVecs vectors of y from their sums. load(from, v) gives vector v of a row that begins at `from`.
template <WeightFormat kFormat, int64_t kRows, int64_t kVecs, typename Load, typename Store>
inline NMT_INLINE void finish(const PackedProduct& p, int64_t row, int64_t column,
                              const typename Dot<kFormat>::Sum (&sums)[kRows][kVecs], Load&& load, Store&& store) {
  const int64_t out = p.weight.out;
  const float* const bias = p.bias;
  const float* const residual = p.residual;
  float* const y = p.y + row * out + column;
  Floats x[kRows][kVecs];
  // Vector by vector: what belongs to an output is loaded once for all rows.
  unrolled<kVecs, kRows>([&](int64_t v, int64_t r) NMT_INLINE {
    if constexpr (kFormat == WeightFormat::kInt8) {
      const RowScale scale = p.row_scales[row + r];
      Ints sum = sums[r][v];
      if (!kWideSteps) sum -= scale.zero * load_as<Ints>(p.weight.sums + column + v * kWidth);
      x[r][v] =
          __builtin_convertvector(sum, Floats) * (scale.scale * load_as<Floats>(p.weight.scales + column + v * kWidth));
    } else {
      x[r][v] = sums[r][v];
    }
  });
  if (bias) unrolled<kVecs, kRows>([&](int64_t v, int64_t r) NMT_INLINE { x[r][v] += load(bias + column, v); });
  if (p.relu)
    unrolled<kRows, kVecs>([&](int64_t r, int64_t v) NMT_INLINE { x[r][v] = x[r][v] < Floats{} ? Floats{} : x[r][v]; });
  if (residual)
    unrolled<kRows, kVecs>([&](int64_t r, int64_t v)
                               NMT_INLINE { x[r][v] += load(residual + (row + r) * out + column, v); });
  unrolled<kRows, kVecs>([&](int64_t r, int64_t v) NMT_INLINE { store(y + r * out, v, x[r][v]); });
}

// The last vectors of a row, where the outputs are no whole panels.
template <WeightFormat kFormat, int64_t kVecs>
__attribute__((noinline)) void finish_rest(const PackedProduct& p, int64_t row, int64_t column,
                                           const typename Dot<kFormat>::Sum (&sums)[1][kVecs]) {
  const auto left = [&](int64_t v) { return std::clamp<int64_t>(p.weight.out - column - v * kWidth, 0, kWidth); };
  finish<kFormat, 1, kVecs>(
      p, row, column, sums,
      [&](const float* from, int64_t v) {
        float part[kWidth] = {};
        if (left(v) > 0) std::copy_n(from + v * kWidth, left(v), part);
        return load_as<Floats>(part);
      },
      [&](float* to, int64_t v, Floats x) {
        if (left(v) > 0) std::memcpy(to + v * kWidth, &x, left(v) * sizeof(float));
      });
}

// Some rows of some words of some columns of one panel. What stands in registers between the words of a row waits in
// `sums` while the other rows have their turn.
struct Tile {
  int64_t row = 0, rows = 0;
  int64_t column = 0;  // of y
  Range words = {};
  const uint32_t* weights = nullptr;  // of words.begin and the column; unpacked ones or those of the panel
  uint32_t* sums = nullptr;           // of row and column: rows kPanel apart
  const uint32_t* ahead = nullptr;    // memory that will be needed next, a cache line a word, fetched meanwhile
};

constexpr int64_t kColumns = NMT_PACKED_VECS * kWidth;  // of a tile
static_assert(kPanel % kColumns == 0);

// kRows rows of kColumns. Each lane is one ascending chain over the words.
template <WeightFormat kFormat, int64_t kRows, bool kUnpacked>
void multiply_tile(const PackedProduct& p, const Tile& tile) {
  using Sum = typename Dot<kFormat>::Sum;
  constexpr int64_t kParts = Dot<kFormat>::kParts, kVecs = NMT_PACKED_VECS;
  const int64_t words = words_in_row(kFormat, p.weight.in), count = tile.words.end - tile.words.begin;
  const char* x = static_cast<const char*>(p.x) + (tile.row * words + tile.words.begin) * kParts * 4;
  const auto waiting = [&](int64_t r, int64_t v) NMT_INLINE { return tile.sums + r * kPanel + v * kWidth; };
  Sum sums[kRows][kVecs] = {};
  if (tile.words.begin > 0)
    unrolled<kRows, kVecs>([&](int64_t r, int64_t v) NMT_INLINE { sums[r][v] = load_as<Sum>(waiting(r, v)); });
  // The words of x that stand at `offset` of their rows, by `weights`.
  const auto add = [&](const Words(&weights)[kVecs], int64_t offset) NMT_INLINE {
    unrolled<kRows, kVecs>([&](int64_t r, int64_t v) NMT_INLINE {
      const Words left = load_as<uint32_t>(x + (r * words * kParts + offset) * 4) + Words{};
      Sum sum = Dot<kFormat>::add(sums[r][v], left, weights[v]);
#ifdef __x86_64__
      if (kParts > 1) asm("" : "+v"(sum));  // one part after the other: products of both at once leave no register free
#endif
      sums[r][v] = sum;
    });
  };
  if constexpr (takes_matrices(kFormat, kRows)) {
    add_matrices(sums, x, words, tile.weights, {0, count}, tile.ahead);
  } else if constexpr (kUnpacked) {
    for (int64_t k = 0; k < count; ++k) {
      __builtin_prefetch(tile.ahead + k * (kPanel / 4), 0, 2);
      unrolled<kParts, 1>([&](int64_t part, int64_t) NMT_INLINE {
        Words weights[kVecs];
        unrolled<1, kVecs>([&](int64_t, int64_t v) NMT_INLINE {
          weights[v] = load_as<Words>(tile.weights + (k * kParts + part) * kColumns + v * kWidth);
        });
        add(weights, k * kParts + part);
      });
    }
  } else {
    for (int64_t k = 0; k < count; ++k) {
      __builtin_prefetch(tile.ahead + k * (kPanel / 4), 0, 2);
      for (int64_t part = 0; part < kParts; ++part) {
        Words weights[kVecs];
        for (int64_t v = 0; v < kVecs; ++v)
          weights[v] = Dot<kFormat>::part(load_as<Words>(tile.weights + k * kPanel + v * kWidth), part);
        add(weights, k * kParts + part);
      }
    }
  }
  if (tile.words.end < words)
    return unrolled<kRows, kVecs>([&](int64_t r, int64_t v) NMT_INLINE { store_as(waiting(r, v), sums[r][v]); });
  if (tile.column + kColumns <= p.weight.out)
    return finish<kFormat, kRows, kVecs>(
        p, tile.row, tile.column, sums,
        [](const float* from, int64_t v) NMT_INLINE { return load_as<Floats>(from + v * kWidth); },
        [](float* to, int64_t v, Floats x) NMT_INLINE { store_as(to + v * kWidth, x); });
  unrolled<kRows, 1>([&](int64_t r, int64_t) NMT_INLINE {
    Sum row[1][kVecs];
    unrolled<1, kVecs>([&](int64_t, int64_t v) NMT_INLINE { row[0][v] = sums[r][v]; });
    finish_rest<kFormat, kVecs>(p, tile.row + r, tile.column, row);
  });
}

// 1 to kRows rows.
template <WeightFormat kFormat, int64_t kRows, bool kUnpacked>
void multiply_rows(const PackedProduct& p, const Tile& tile) {
  if constexpr (kRows > 1) {
    if (tile.rows < kRows) return multiply_rows<kFormat, kRows - 1, kUnpacked>(p, tile);
  }
  multiply_tile<kFormat, kRows, kUnpacked>(p, tile);
}

// Most rows of a tile.
constexpr int64_t max_rows(WeightFormat format) { return takes_matrices(format, 2) ? 6 : NMT_PACKED_ROWS; }

// Whether weights are taken apart, and put side by side, once for all tiles of rows.
template <WeightFormat kFormat>
constexpr bool kUnpacks =
    !takes_matrices(kFormat, max_rows(kFormat)) && (Dot<kFormat>::kParts > 1 || kColumns < kPanel);
constexpr int64_t kUnpackedWords = 1 << 12;
// The words of a panel that stay in the nearest caches while all rows pass by.
template <WeightFormat kFormat>
constexpr int64_t kWordsAtOnce = kUnpacks<kFormat> ? kUnpackedWords / (Dot<kFormat>::kParts * kColumns) : 512;

template <WeightFormat kFormat>
void unpack(const uint32_t* weights, int64_t count, uint32_t* to) {
  constexpr int64_t kParts = Dot<kFormat>::kParts;
  for (int64_t k = 0; k < count; ++k)
    for (int64_t part = 0; part < kParts; ++part)
      for (int64_t column = 0; column < kColumns; column += kWidth)
        store_as(to + (k * kParts + part) * kColumns + column,
                 Dot<kFormat>::part(load_as<Words>(weights + k * kPanel + column), part));
}

// All rows of some words of a panel.
template <WeightFormat kFormat>
void multiply_words(const PackedProduct& p, Range rows, int64_t panel, Range words, uint32_t* sums) {
  constexpr int64_t kRows = max_rows(kFormat);
  // The first tile waits for the weights to come and is as wide as can be; the others share what is left evenly.
  const int64_t tiles = (rows.end - rows.begin + kRows - 1) / kRows, count = words.end - words.begin;
  const uint32_t* weights = p.weight.panels + (panel * words_in_row(kFormat, p.weight.in) + words.begin) * kPanel;
  const uint32_t* next = weights + count * kPanel;
  alignas(64) uint32_t unpacked[kUnpacks<kFormat> ? kUnpackedWords : 1];
  for (int64_t column = 0; column < kPanel; column += kColumns) {
    const bool unpacks = kUnpacks<kFormat> && tiles > 1;
    if (unpacks) unpack<kFormat>(weights + column, count, unpacked);
    int64_t row = rows.begin;
    for (int64_t part = 0; part < tiles; ++part) {
      const int64_t left = rows.end - row, tiles_left = tiles - part;
      const int64_t wide = part == 0 ? std::min(left, kRows) : (left + tiles_left - 1) / tiles_left;
      const Tile tile{.row = row,
                      .rows = wide,
                      .column = panel * kPanel + column,
                      .words = words,
                      .weights = unpacks ? unpacked : weights + column,
                      .sums = sums + (row - rows.begin) * kPanel + column,
                      .ahead = next + (part + column / kColumns) % 4 * count * (kPanel / 4)};
      if (unpacks)
        multiply_rows<kFormat, kRows, kUnpacks<kFormat>>(p, tile);
      else
        multiply_rows<kFormat, kRows, false>(p, tile);
      row += wide;
    }
  }
}

template <WeightFormat kFormat>
void multiply_format(const PackedProduct& p, Range rows, Range panels) {
  constexpr int64_t kRows = max_rows(kFormat), kWords = kWordsAtOnce<kFormat>;
  constexpr int64_t kCachedBytes = 1 << 18;  // of x: stays in the second-level cache while all panels pass by
  const int64_t row_bytes = words_of_x(kFormat, p.weight.in) * 4, words = words_in_row(kFormat, p.weight.in);
  const int64_t chunk = std::max<int64_t>(1, kCachedBytes / row_bytes / kRows) * kRows;
  uint32_t sums[kCachedBytes / (4 * kWords) * kPanel];  // of a chunk, whose rows are longer than kWords
  for (int64_t first = rows.begin; first < rows.end; first += chunk) {
    const Range some{first, std::min(rows.end, first + chunk)};
    const int64_t step = some.end - some.begin > kRows ? kWords : words;
    for (int64_t panel = panels.begin; panel < panels.end; ++panel)
      for (int64_t k = 0; k < words; k += step)
        multiply_words<kFormat>(p, some, panel, {k, std::min(words, k + step)}, sums);
  }
}

void multiply(const PackedProduct& p, Range rows, Range panels) {
  switch (p.weight.format) {
    case WeightFormat::kFloat32:
      return multiply_format<WeightFormat::kFloat32>(p, rows, panels);
    case WeightFormat::kBfloat16:
      return multiply_format<WeightFormat::kBfloat16>(p, rows, panels);
    case WeightFormat::kInt8:
      return multiply_format<WeightFormat::kInt8>(p, rows, panels);
  }
}

}  // namespace

extern const PackedKernels kPackedSet;
const PackedKernels kPackedSet = {NMT_KERNEL_NAME, pack, words_of_x, prepare, multiply};

}  // namespace nmt::kernels::NMT_KERNEL_SET
