#pragma once

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace nmt::kernels {

/// Whether processor and operating system have all of an x86-64 level (3 or 4, System V ABI, table 3.1), as files that
/// are compiled for it need. A hypervisor may hide parts of one: a hidden LZCNT runs as another instruction, with
/// another result. (clang knows "x86-64-v3" in __builtin_cpu_supports from 18 on.)
inline bool has_x86_64_level(int level) {
#ifdef __x86_64__
  // avx2 and avx512f include what the operating system has to save.
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
      !__builtin_cpu_supports("bmi2"))
    return false;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_F16C) || !(c & bit_MOVBE)) return false;
  if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(c & bit_LZCNT)) return false;
  if (level == 3) return true;
  return level == 4 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return level < 0;  // none of them
#endif
}

/// Whether there is AVX-VNNI: dot products of int8 in 256 bits, on processors without AVX-512.
inline bool has_avx_vnni() {
#ifdef __x86_64__
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kAvxVnni = 1 << 4;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & kAvxVnni);
#else
  return false;
#endif
}

/// Whether there are AMX's tiles of bfloat16.
inline bool has_bfloat16_tiles() {
#ifdef __x86_64__
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kAmxBf16 = 1 << 22;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & kAmxBf16);
#else
  return false;
#endif
}

/// Whether AVX512-BF16's instruction for dot products is there and quicker than the same in float32. It has twice the
/// rate of float32's multiply-add on processors of AMD, and half of it on Intel's (measured: docs/results.md).
inline bool has_quick_bfloat16() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_is("amd");
#else
  return false;
#endif
}

}  // namespace nmt::kernels
