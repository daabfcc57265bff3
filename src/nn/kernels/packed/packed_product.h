#pragma once

#include <cstdint>

#include "nn/kernels/kernel_sets.h"
#include "nn/kernels/types.h"

/// Products of decoding, y = x weightᵀ: few rows, the same weights again and again. Weights are packed once; every
/// format gives a row the same bits alone and in any batch.
namespace nmt::kernels {

/// How a packed weight is held. x comes and y goes in float32.
enum class WeightFormat : int8_t {
  kFloat32,   ///< each element of y is one ascending chain of multiply-adds
  kBfloat16,  ///< weights and x rounded to bfloat16, sums in float32 in one ascending order
  kInt8,      ///< weights int8 with a scale an output; a row of x uint8 with scale and zero of its own; exact sums
};

constexpr int64_t kPanel = 64;  ///< outputs that stand side by side in a packed weight

/// The unit of packed numbers is a word of 32 bits: one float32, two bfloat16 or four int8 of the same row.
constexpr int64_t numbers_in_word(WeightFormat format) {
  return format == WeightFormat::kInt8 ? 4 : format == WeightFormat::kBfloat16 ? 2 : 1;
}
constexpr int64_t words_in_row(WeightFormat format, int64_t in) {
  return (in + numbers_in_word(format) - 1) / numbers_in_word(format);
}
constexpr int64_t panel_count(int64_t out) { return (out + kPanel - 1) / kPanel; }
constexpr int64_t kMaxInt8In = 1 << 16;  ///< longer rows could overflow the sums of kInt8

/// A weight [out, in] as pack() writes it; what is beyond out and in is zero.
struct PackedWeight {
  WeightFormat format = WeightFormat::kFloat32;
  int64_t out = 0, in = 0;
  uint32_t* panels = nullptr;  ///< [panel_count(out), words_in_row(in), kPanel] words
  float* scales = nullptr;     ///< kInt8: [panel_count(out) * kPanel] what one unit of an output's weights is worth
  int32_t* sums = nullptr;     ///< kInt8: like scales, the sum of an output's int8 weights
};

/// A row of x as 256 steps u, from 0, -128 or -zero on, as the set likes them: x = scale * (u - zero).
struct RowScale {
  float scale = 0;
  int32_t zero = 0;
};

struct PackedProduct {
  PackedWeight weight;
  const void* x = nullptr;               ///< [rows, words_of_x(in)] words of prepare(); kFloat32: x itself
  const RowScale* row_scales = nullptr;  ///< kInt8: [rows], of prepare()
  const float* bias = nullptr;           ///< [out], or nullptr
  bool relu = false;                     ///< of x weightᵀ + bias
  const float* residual = nullptr;       ///< [rows, out], added at the end, or nullptr
  float* y = nullptr;                    ///< [rows, out]
};

struct PackedKernels {
  const char* name;  ///< one of kPackedSetNames

  /// Writes the panels [panels.begin, panels.end) of weight (row-major, [packed.out, packed.in]).
  void (*pack)(const float* weight, const PackedWeight& packed, Range panels);
  /// Words of a row of x as prepare() makes it.
  int64_t (*words_of_x)(WeightFormat format, int64_t in);
  /// Rows of x [rows, in] as multiply() takes them; not needed for kFloat32. scales: kInt8 only. A row with a number
  /// that is none gets the scale NaN, and so does its product.
  void (*prepare)(WeightFormat format, const float* x, int64_t in, Range rows, void* words, RowScale* scales);
  /// The given rows of the given panels of y.
  void (*multiply)(const PackedProduct& product, Range rows, Range panels);
};

/// The same panels, from numbers that are in the packed format already (a quantized model directory's): rows is
/// [packed.out, packed.in] int8 or bfloat16, row-major, at any address; scales [packed.out], kInt8 only.
void pack_quantized(const void* rows, const float* scales, const PackedWeight& packed, Range panels);
/// One output's weights, [packed.in], as products see them: those of kInt8 are scale * int8.
void unpack_row(const PackedWeight& packed, int64_t output, float* row);

/// The best set for this processor: the last of kPackedSetNames that it can run, without avx512_bf16 where that
/// instruction is slower than two of float32 (has_quick_bfloat16()).
const PackedKernels& packed_kernels();
/// A set by name, for tests; nullptr where the processor cannot run it or the environment does not allow it.
const PackedKernels* packed_kernels_by_name(const char* name);
/// Whether a set has an instruction for dot products of the format. Without it products of kBfloat16 take a little
/// longer than those of kFloat32, and those of kInt8 half of their time.
bool has_dot_products(WeightFormat format, const char* set = packed_kernels().name);

}  // namespace nmt::kernels
