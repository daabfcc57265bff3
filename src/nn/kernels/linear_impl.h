#pragma once

// Part of a kernel set: see kernels_impl.h.
#include <algorithm>
#include <cstdint>

#include "nn/kernels/kernels.h"
#include "nn/kernels/product_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// Panels of kPanel output columns: packed[(panel * in + l) * kPanel + c] = weight[panel * kPanel + c, l], zero beyond
// `out`.
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
  product_block<kRows, 2>(task.x + row * task.in, task.in, 1, task.packed + panel * kPanel * task.in, kPanel, task.in,
                          block, kPanel);
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
}  // namespace nmt::kernels::NMT_KERNEL_SET
