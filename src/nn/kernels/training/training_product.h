#pragma once

#include <cstdint>

#include "nn/kernels/packed/packed_product.h"
#include "nn/kernels/types.h"

/// The three products of an affine map in training: y = x weightᵀ + bias, and the gradients x' = y' weight,
/// weight' = y'ᵀ x and bias' = sums of the columns of y'. Numbers are float32, or bfloat16, stored as the upper half of
/// a float, with sums in float32. What a range computes does not depend on how the work was split, and each sum is one
/// ascending chain of multiply-adds.
namespace nmt::kernels {

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
