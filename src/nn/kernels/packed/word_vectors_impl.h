#pragma once

// Part of a set of products: see packed_set.cpp, whose macros it uses.
#include <cstdint>
#include <cstring>

#include "nn/kernels/instruction_set.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// Vectors as wide as this instruction set's registers: the compiler keeps wider ones in memory.
constexpr int64_t kWidth = NMT_PACKED_WIDTH;
typedef float Floats __attribute__((vector_size(4 * kWidth)));
typedef int32_t Ints __attribute__((vector_size(4 * kWidth)));
typedef uint32_t Words __attribute__((vector_size(4 * kWidth)));

template <typename To>
inline To load_as(const void* p) {
  To v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
// The vector is taken by value: an array whose elements have an address does not stay in registers.
template <typename From>
inline void store_as(void* p, From v) {
  std::memcpy(p, &v, sizeof v);
}
template <typename To, typename From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
