#pragma once

#include <cstdint>

#include "nn/kernels/packed/packed_product.h"

/// The three products of an affine map in training, in bfloat16 with sums in float32: y = x weightᵀ + bias, and the
/// gradients x' = y' weight, weight' = y'ᵀ x and bias' = sums of the columns of y'. bfloat16 is stored as the upper
/// half of a float. What a range computes does not depend on how the work was split.
namespace nmt::kernels {

/// A weight [out, in] in bfloat16, two of its numbers in a word, once for each of the products that read it. What is
/// beyond out and in is zero. in and out are even.
struct TrainingWeight {
  int64_t out = 0, in = 0;
  uint32_t* panels = nullptr;      ///< [panel_count(out), in / 2, kPanel]: inputs 2w and 2w + 1 of an output
  uint32_t* transposed = nullptr;  ///< [panel_count(in), out / 2, kPanel]: outputs 2w and 2w + 1 of an input
};

/// y = x panelsᵀ + bias: x [rows, in] and y [rows, out], one row after the other.
struct TrainingProduct {
  int64_t rows = 0, in = 0, out = 0;
  const uint16_t* x = nullptr;
  const uint32_t* panels = nullptr;  ///< [panel_count(out), in / 2, kPanel]
  const float* bias = nullptr;       ///< [out], or nullptr
  uint16_t* y = nullptr;
};

constexpr int64_t pair_count(int64_t rows) { return (rows + 1) / 2; }

/// What is added to the gradients of weight and bias.
struct TrainingGradient {
  int64_t rows = 0, in = 0, out = 0;
  const uint32_t* x_pairs = nullptr;     ///< x [rows, in] as pair_rows() writes it
  const uint16_t* y_gradient = nullptr;  ///< [rows, out]
  float* weight_gradient = nullptr;      ///< [out, in]
  float* bias_gradient = nullptr;        ///< [out], or nullptr
};

struct TrainingKernels {
  const char* name;  ///< "avx512_bf16", "baseline"

  /// Writes what belongs to the outputs of the panels [panels.begin, panels.end) of weight (row-major, [out, in]).
  void (*pack)(const float* weight, const TrainingWeight& packed, Range panels);
  /// The given rows of y.
  void (*multiply)(const TrainingProduct& product, Range rows);
  /// Writes the panels [panels.begin, panels.end) of x [rows, columns] with rows 2p and 2p + 1 of a column in a word:
  /// [panel_count(columns), pair_count(rows), kPanel]. What is beyond rows and columns is zero.
  void (*pair_rows)(const uint16_t* x, int64_t rows, int64_t columns, Range panels, uint32_t* pairs);
  /// Adds to the given outputs and inputs of the weight's gradient, in ascending order of the rows; with input 0 also
  /// to the bias's. Both begin at a multiple of kPanel.
  void (*add_gradient)(const TrainingGradient& gradient, Range outputs, Range inputs);
};

/// The set for this processor, or nullptr where another library multiplies bfloat16 faster: processors with AMX, and
/// those without an instruction for it.
const TrainingKernels* training_kernels();
/// A set by name, for tests; nullptr where the processor cannot run it.
const TrainingKernels* training_kernels_by_name(const char* name);

}  // namespace nmt::kernels
