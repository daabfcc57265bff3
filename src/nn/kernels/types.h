#pragma once

#include <cstdint>

namespace nmt::kernels {

enum class Type : int8_t { kFloat, kBfloat16 };

struct Range {
  int64_t begin = 0, end = 0;
};

}  // namespace nmt::kernels
