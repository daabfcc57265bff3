#pragma once

// Part of a kernel set: see kernel_set.cpp.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "nn/kernels/kernels.h"
#include "nn/kernels/vector_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// 2^x for x in [-126, 0], relative error below 3e-7: the fraction by a polynomial (Taylor's, through the middle of
// [-1/2, 1/2]), the whole part into the exponent.
inline Vec vec_exp2(Vec x) {
  const Vec magic = all(12582912.0f);  // adding it rounds to whole numbers
  const Vec whole = (x + magic) - magic, f = x - whole;
  Vec p = all(1.5403530e-4f);
  p = p * f + all(1.3333558e-3f);
  p = p * f + all(9.6181291e-3f);
  p = p * f + all(5.5504109e-2f);
  p = p * f + all(2.4022651e-1f);
  p = p * f + all(6.9314718e-1f);
  p = p * f + all(1.0f);
  IntVec bits;
  std::memcpy(&bits, &p, sizeof bits);
  bits += __builtin_convertvector(whole, IntVec) << 23;
  std::memcpy(&p, &bits, sizeof p);
  return p;
}

void logit_rows(const LogitRows& task, Range rows) {
  const float infinity = std::numeric_limits<float>::infinity();
  const int64_t classes = task.classes, blocks = logit_block_count(classes);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const float* row = task.logits + r * classes;
    float* maxima = task.block_maxima + r * blocks;
    const int64_t whole = classes / kLogitBlock;
    float last[kLogitBlock];  // what does not fill a block
    std::fill(last, last + kLogitBlock, -infinity);
    std::copy(row + whole * kLogitBlock, row + classes, last);
    const auto block_at = [&](int64_t block) { return block < whole ? row + block * kLogitBlock : last; };

    Vec top = all(-infinity);
    for (int64_t block = 0; block < blocks; ++block) {
      const float* x = block_at(block);
      Vec highest = load(x);
      for (int64_t i = kLanes; i < kLogitBlock; i += kLanes) highest = greater(load(x + i), highest);
      maxima[block] = max_lanes(highest);
      top = greater(highest, top);
    }
    const float maximum = max_lanes(top);
    const Vec log2_e = all(1.44269504f), min = all(-126);
    Vec sums[kLogitBlock / kLanes] = {};
    for (int64_t block = 0; block < blocks; ++block) {
      const float* x = block_at(block);
      for (int64_t i = 0; i < kLogitBlock / kLanes; ++i) {
        const Vec power = (load(x + i * kLanes) - all(maximum)) * log2_e;
        sums[i] += vec_exp2(greater(min, power));
      }
    }
    Vec sum = {};
    for (const Vec& part : sums) sum += part;
    task.maxima[r] = maximum;
    task.log_sums[r] = std::log(sum_lanes(sum));
  }
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
