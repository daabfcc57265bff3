#pragma once

#include <cstdint>

#include "nn/kernels/types.h"

/// Products of decoding and of training, by kernels of the best instruction set: kernels.cpp chooses.
namespace nmt::kernels {

/// All sets, each architecture's from the slowest to the fastest.
inline constexpr const char* kPackedSetNames[] = {"baseline",    "avx2", "avx_vnni",     "avx512",    "avx512_vnni",
                                                  "avx512_bf16", "neon", "neon_dotprod", "neon_i8mm", "neon_bf16"};

// Products of decoding, y = x weightᵀ: few rows, the same weights again and again. Weights are packed once; every
// format gives a row the same bits alone and in any batch.

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

// The three products of an affine map in training: y = x weightᵀ + bias, and the gradients x' = y' weight,
// weight' = y'ᵀ x and bias' = sums of the columns of y'. Numbers are float32, or bfloat16, stored as the upper half of
// a float, with sums in float32. What a range computes does not depend on how the work was split, and each sum is one
// ascending chain of multiply-adds.

/// The unit of packed numbers is a word of 32 bits: one float32 or two bfloat16.
constexpr int64_t numbers_in_word(Type type) { return type == Type::kBfloat16 ? 2 : 1; }
constexpr int64_t word_count(Type type, int64_t numbers) {
  return (numbers + numbers_in_word(type) - 1) / numbers_in_word(type);
}

/// A weight [out, in] in float32, one row after the other, that is to be packed. With bfloat16, in and out are even.
struct TrainingWeight {
  int64_t out = 0, in = 0;
  const float* numbers = nullptr;
};

/// y = x panelsᵀ + bias: x [rows, in] and y [rows, out], one row after the other.
struct TrainingProduct {
  int64_t rows = 0, in = 0, out = 0;
  const void* x = nullptr;
  const uint32_t* panels = nullptr;  ///< [panel_count(out), word_count(in), kPanel]
  const float* bias = nullptr;       ///< [out], or nullptr
  void* y = nullptr;
};

/// What is added to the gradients of weight and bias.
struct TrainingGradient {
  int64_t rows = 0, in = 0, out = 0;
  const uint32_t* x_panels = nullptr;  ///< x [rows, in] as pack_rows() writes it
  const void* y_gradient = nullptr;    ///< [rows, out]
  float* weight_gradient = nullptr;    ///< [out, in]
  float* bias_gradient = nullptr;      ///< [out], or nullptr
};

/// Panels are kPanel columns wide; what is beyond the matrix is zero.
struct TrainingKernels {
  const char* name;  ///< "avx512_bf16", "avx512", "avx2", "baseline"
  Type type;

  /// Writes the panels [panels.begin, panels.end) of [panel_count(out), word_count(in), kPanel]: the inputs of a word,
  /// side by side for the outputs of a panel.
  void (*pack)(const TrainingWeight& weight, Range panels, uint32_t* to);
  /// The same of the transposed weight: [panel_count(in), word_count(out), kPanel].
  void (*pack_transposed)(const TrainingWeight& weight, Range panels, uint32_t* to);
  /// The given rows of y.
  void (*multiply)(const TrainingProduct& product, Range rows);
  /// Writes the panels [panels.begin, panels.end) of x [rows, columns] with the rows of a word together:
  /// [panel_count(columns), word_count(rows), kPanel].
  void (*pack_rows)(const void* x, int64_t rows, int64_t columns, Range panels, uint32_t* to);
  /// Adds to the given outputs and inputs of the weight's gradient, in ascending order of the rows; with input 0 also
  /// to the bias's. Both begin at a multiple of kPanel.
  void (*add_gradient)(const TrainingGradient& gradient, Range outputs, Range inputs);
};

/// The set for this processor, or nullptr where LibTorch's library multiplies faster: bfloat16 with AMX or without
/// AVX512-BF16, float32 on processors of Intel.
const TrainingKernels* training_kernels(Type type);
/// For tests: from now on training_kernels() gives the set of this name; nullptr: that for this processor again.
void force_training_kernels(const char* name);
/// A set by name, for tests; nullptr where the processor cannot run it.
const TrainingKernels* training_kernels_by_name(const char* name, Type type);

}  // namespace nmt::kernels
