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

}  // namespace nmt::kernels
