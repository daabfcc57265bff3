// A set of packed products: included by packed_<instruction set>.cpp after NMT_KERNEL_SET, NMT_KERNEL_NAME,
// NMT_PACKED_WIDTH, NMT_PACKED_ROWS and NMT_PACKED_VECS are defined: numbers in one of its registers, and how many rows
// of how many vectors of sums fit them. NMT_PACKED_NEON: with the instructions of ARM64 that the file is compiled for.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "nn/kernels/packed/packed_product.h"
#include "nn/kernels/packed/word_vectors_impl.h"
#include "nn/kernels/vector_impl.h"

#if defined(__AVX512VNNI__) || defined(__AVX512BF16__)
#include <immintrin.h>
#endif
#ifdef NMT_PACKED_NEON
#include "nn/kernels/packed/neon_impl.h"
#else
namespace nmt::kernels::NMT_KERNEL_SET {
namespace {
constexpr bool takes_matrices(WeightFormat, int64_t) { return false; }
}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
#endif

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// What a format makes of a word of x in all lanes and a vector of words of weights. Where kParts is not 1, a word of
// weights is taken apart by part(), and each part has its own word of x.
template <WeightFormat>
struct Dot;

template <>
struct Dot<WeightFormat::kFloat32> {
  using Sum = Floats;
  static constexpr int64_t kParts = 1;
  static Words part(Words weights, int64_t) { return weights; }
  static Floats add(Floats sum, Words x, Words weights) { return sum + bits_as<Floats>(x) * bits_as<Floats>(weights); }
};

template <>
struct Dot<WeightFormat::kBfloat16> {
  using Sum = Floats;
#ifdef __AVX512BF16__
  static constexpr int64_t kParts = 1;
  static Words part(Words weights, int64_t) { return weights; }
  static Floats add(Floats sum, Words x, Words weights) {
    return bits_as<Floats>(_mm512_dpbf16_ps(bits_as<__m512>(sum), bits_as<__m512bh>(x), bits_as<__m512bh>(weights)));
  }
#elif defined(NMT_PACKED_NEON) && defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
  static constexpr int64_t kParts = 1;  // add_matrices() does the rest
#else
  // Without the instruction: two products in float32, of weights that still take half of the memory to read.
  static constexpr int64_t kParts = 2;
  static Words part(Words weights, int64_t part) { return part == 0 ? weights << 16 : weights & 0xffff0000u; }
  static Floats add(Floats sum, Words x, Words weights) { return sum + bits_as<Floats>(x) * bits_as<Floats>(weights); }
#endif
};

template <>
struct Dot<WeightFormat::kInt8> {
  using Sum = Ints;
  static constexpr int64_t kParts = 1;
  // What prepare() takes from the steps of x.
#ifdef NMT_PACKED_NEON
  static constexpr int32_t kOffset = kNeonOffset;
#else
  static constexpr int32_t kOffset = 0;
#endif
  static Words part(Words weights, int64_t) { return weights; }
  static Ints add(Ints sum, Words x, Words weights) {
#ifdef __AVX512VNNI__
    return bits_as<Ints>(_mm512_dpbusd_epi32(bits_as<__m512i>(sum), bits_as<__m512i>(x), bits_as<__m512i>(weights)));
#elif defined(NMT_PACKED_NEON)
    return neon_dot(sum, x, weights);
#else
    for (int byte = 0; byte < 4; ++byte)
      sum += bits_as<Ints>((x >> (8 * byte)) & 255u) * (bits_as<Ints>(weights << (24 - 8 * byte)) >> 24);
    return sum;
#endif
  }
};

inline int8_t to_int8(float x, float inverse_scale) {
  return static_cast<int8_t>(std::clamp(std::nearbyint(x * inverse_scale), -127.0f, 127.0f));
}

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

// What is less than this is taken for zero: 255 over it would be infinite.
constexpr float kLeastRange = 256 / FLT_MAX;

// Symmetric quantization of one output's weights: the largest is 127 units. The same arithmetic as that of the rows in
// a file (base/files/stored_weights.cpp), compiled for each set: a test compares them.
float quantize_row(const float* row, const PackedWeight& packed, int64_t output) {
  float largest = 0, poison = 0;  // poison: NaN where a weight is none
  for (int64_t k = 0; k < packed.in; ++k) {
    largest = std::max(largest, std::abs(row[k]));
    poison += row[k] - row[k];
  }
  packed.scales[output] = largest / 127 + poison;
  const float inverse_scale = largest > kLeastRange && poison == 0 ? 127 / largest : 0;
  int32_t sum = 0;
  for (int64_t k = 0; k < packed.in; ++k) sum += to_int8(row[k], inverse_scale);
  packed.sums[output] = sum;
  return inverse_scale;
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

// Affine quantization of a row of x: 0 is one of the 256 steps, and what a ReLU has made positive has all of them.
RowScale quantize(const float* x, int64_t in, uint8_t* to) {
  Vec low = {}, high = {}, poison = {};
  const auto take = [&](Vec v) {
    low = v < low ? v : low;
    high = v > high ? v : high;
    poison += v - v;
  };
  const int64_t whole = in / kLanes * kLanes;
  float rest[kLanes] = {};
  std::copy(x + whole, x + in, rest);
  for (int64_t k = 0; k < whole; k += kLanes) take(load(x + k));
  take(load(rest));
  const float lowest = -max_lanes(-low), range = max_lanes(high) - lowest;
  const float scale = range / 255, inverse = range > kLeastRange ? 255 / range : 0;
  const float zero = std::nearbyint(-lowest * inverse);
  constexpr int32_t kOffset = Dot<WeightFormat::kInt8>::kOffset;
  const auto quantized = [&](Vec v) {
    const Vec steps = v * all(inverse) + all(zero + 0.5f);  // never negative: rounded by cutting off
    return __builtin_convertvector(steps > all(255) ? all(255) : steps, IntVec) - kOffset;
  };
  typedef uint8_t ByteVec __attribute__((vector_size(kLanes)));
  for (int64_t k = 0; k < whole; k += kLanes) {
    const ByteVec bytes = __builtin_convertvector(quantized(load(x + k)), ByteVec);
    std::memcpy(to + k, &bytes, sizeof bytes);
  }
  const ByteVec bytes = __builtin_convertvector(quantized(load(rest)), ByteVec);
  const int64_t padded = words_in_row(WeightFormat::kInt8, in) * 4;
  std::memcpy(to + whole, &bytes, padded - whole);  // beyond `in` stands the step of zero, where weights are zero too
  return {scale + sum_lanes(poison), static_cast<int32_t>(zero) - kOffset};
}

int64_t words_of_x(WeightFormat format, int64_t in) {
  const int64_t parts = format == WeightFormat::kBfloat16 ? Dot<WeightFormat::kBfloat16>::kParts : 1;
  return words_in_row(format, in) * parts;
}

// As float32 rounded to bfloat16.
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

// kVecs vectors of one row of y from their sums.
template <WeightFormat kFormat, int64_t kVecs>
inline void finish(const PackedProduct& p, int64_t row, int64_t column,
                   const typename Dot<kFormat>::Sum (&sums)[kVecs]) {
  const int64_t out = p.weight.out;
  float* y = p.y + row * out + column;
  const auto element = [&](int64_t v, auto&& vec_of) {
    Floats x;
    if constexpr (kFormat == WeightFormat::kInt8) {
      const RowScale scale = p.row_scales[row];
      const auto unit = scale.scale * load_as<Floats>(p.weight.scales + column + v * kWidth);
      const auto correction = scale.zero * load_as<Ints>(p.weight.sums + column + v * kWidth);
      x = __builtin_convertvector(sums[v] - correction, Floats) * unit;
    } else {
      x = sums[v];
    }
    if (p.bias) x += vec_of(p.bias + column);
    if (p.relu) x = x < Floats{} ? Floats{} : x;
    if (p.residual) x += vec_of(p.residual + row * out + column);
    return x;
  };
  if (column + kVecs * kWidth <= out) {
    for (int64_t v = 0; v < kVecs; ++v) {
      const Floats x = element(v, [&](const float* from) { return load_as<Floats>(from + v * kWidth); });
      std::memcpy(y + v * kWidth, &x, sizeof x);
    }
    return;
  }
  for (int64_t v = 0; v < kVecs; ++v) {
    const int64_t left = std::clamp<int64_t>(out - column - v * kWidth, 0, kWidth);
    const Floats x = element(v, [&](const float* from) {
      float part[kWidth] = {};
      std::copy_n(from + v * kWidth, left, part);
      return load_as<Floats>(part);
    });
    std::memcpy(y + v * kWidth, &x, left * sizeof(float));
  }
}

// Some rows of some words of one panel. What stands in registers between the words of a row waits in `sums` while the
// other rows have their turn.
struct Tile {
  int64_t row = 0, rows = 0;
  int64_t panel = 0;
  Range words = {};
  int64_t first_row = 0;
  uint32_t* sums = nullptr;         // of rows from first_row on: [rows, kPanel]
  const uint32_t* ahead = nullptr;  // memory that will be needed next, fetched meanwhile
};

// kRows rows of kVecs vectors of a panel. Each lane is one ascending chain over the words.
template <WeightFormat kFormat, int64_t kRows, int64_t kVecs>
void multiply_block(const PackedProduct& p, const Tile& tile, int64_t column) {
  using Sum = typename Dot<kFormat>::Sum;
  constexpr int64_t kParts = Dot<kFormat>::kParts;
  const int64_t words = words_in_row(kFormat, p.weight.in);
  const char* x = static_cast<const char*>(p.x) + tile.row * words * kParts * 4;
  const uint32_t* panel = p.weight.panels + tile.panel * words * kPanel + column;
  const uint32_t* ahead = tile.ahead - tile.words.begin * (kPanel / 4);
  const auto waiting = [&](int64_t r, int64_t v) {
    return tile.sums + (tile.row - tile.first_row + r) * kPanel + column + v * kWidth;
  };
  Sum sums[kRows][kVecs] = {};
  if (tile.words.begin > 0)
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t v = 0; v < kVecs; ++v) sums[r][v] = load_as<Sum>(waiting(r, v));
  if constexpr (takes_matrices(kFormat, kRows))
    add_matrices(sums, x, words, panel, tile.words, ahead);
  else
    for (int64_t k = tile.words.begin; k < tile.words.end; ++k) {
      __builtin_prefetch(ahead + k * (kPanel / 4), 0, 2);
      for (int64_t part = 0; part < kParts; ++part) {
        Words weights[kVecs];
        for (int64_t v = 0; v < kVecs; ++v)
          weights[v] = Dot<kFormat>::part(load_as<Words>(panel + k * kPanel + v * kWidth), part);
        for (int64_t r = 0; r < kRows; ++r) {
          uint32_t word;
          std::memcpy(&word, x + ((r * words + k) * kParts + part) * 4, 4);
          const Words left = word + Words{};
          for (int64_t v = 0; v < kVecs; ++v) sums[r][v] = Dot<kFormat>::add(sums[r][v], left, weights[v]);
        }
      }
    }
  if (tile.words.end < words) {
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t v = 0; v < kVecs; ++v) std::memcpy(waiting(r, v), &sums[r][v], sizeof(Sum));
    return;
  }
  for (int64_t r = 0; r < kRows; ++r) finish<kFormat, kVecs>(p, tile.row + r, tile.panel * kPanel + column, sums[r]);
}

// 1 to kRows rows.
template <WeightFormat kFormat, int64_t kRows>
void multiply_tile(const PackedProduct& p, const Tile& tile) {
  if constexpr (kRows > 1) {
    if (tile.rows < kRows) return multiply_tile<kFormat, kRows - 1>(p, tile);
  }
  constexpr int64_t kVecs = NMT_PACKED_VECS;
  for (int64_t column = 0; column < kPanel; column += kVecs * kWidth)
    multiply_block<kFormat, kRows, kVecs>(p, tile, column);
}

// Of a tile.
constexpr int64_t max_rows(WeightFormat format) { return takes_matrices(format, 2) ? 6 : NMT_PACKED_ROWS; }

// All rows of some words of a panel.
template <WeightFormat kFormat>
void multiply_words(const PackedProduct& p, Range rows, int64_t panel, Range words, uint32_t* sums) {
  constexpr int64_t kRows = max_rows(kFormat);
  // The first tile waits for the weights to come and is as wide as can be; the others share what is left evenly.
  const int64_t tiles = (rows.end - rows.begin + kRows - 1) / kRows, count = words.end - words.begin;
  const uint32_t* next = p.weight.panels + (panel * words_in_row(kFormat, p.weight.in) + words.end) * kPanel;
  int64_t row = rows.begin;
  for (int64_t part = 0; part < tiles; ++part) {
    const int64_t left = rows.end - row, tiles_left = tiles - part;
    const int64_t wide = part == 0 ? std::min(left, kRows) : (left + tiles_left - 1) / tiles_left;
    multiply_tile<kFormat, kRows>(p, {.row = row,
                                      .rows = wide,
                                      .panel = panel,
                                      .words = words,
                                      .first_row = rows.begin,
                                      .sums = sums,
                                      .ahead = next + part % 4 * count * (kPanel / 4)});
    row += wide;
  }
}

template <WeightFormat kFormat>
void multiply_format(const PackedProduct& p, Range rows, Range panels) {
  constexpr int64_t kRows = max_rows(kFormat);
  static_assert(kPanel % (NMT_PACKED_VECS * kWidth) == 0);
  constexpr int64_t kCachedBytes = 1 << 18;  // of x: stays in the second-level cache while all panels pass by
  constexpr int64_t kWords = 512;            // of a panel, 128 kB: they stay there, too, while all rows pass by
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
