#pragma once

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace nmt::kernels {

/// What the sets for ARM64 are compiled for: each with all that those before it have. NEON is part of every ARM64.
enum class ArmLevel {
  kNone,        ///< another architecture
  kNeon,        ///< Armv8.0-A
  kDotProduct,  ///< Armv8.2-A and FEAT_DotProd
  kInt8Matrix,  ///< and FEAT_I8MM
  kBfloat16,    ///< and FEAT_BF16
};

/// The highest one of this processor, as Linux tells it; on other systems no higher one than kNeon.
inline ArmLevel arm_level() {
#if defined(__aarch64__) && defined(__linux__)
  const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  // What a compiler may use of Armv8.1-A and 8.2-A, and the dot products.
  constexpr unsigned long kDotProduct = HWCAP_CRC32 | HWCAP_ATOMICS | HWCAP_ASIMDRDM | HWCAP_ASIMDDP;
  if ((first & kDotProduct) != kDotProduct) return ArmLevel::kNeon;
  if (!(second & HWCAP2_I8MM)) return ArmLevel::kDotProduct;
  return second & HWCAP2_BF16 ? ArmLevel::kBfloat16 : ArmLevel::kInt8Matrix;
#elif defined(__aarch64__)
  return ArmLevel::kNeon;
#else
  return ArmLevel::kNone;
#endif
}

}  // namespace nmt::kernels
