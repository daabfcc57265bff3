#pragma once

// Part of a kernel set: see kernel_set.cpp.
#include <cstdint>

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

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
