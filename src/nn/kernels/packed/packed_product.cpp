#include "nn/kernels/packed/packed_product.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "nn/kernels/arm_level.h"
#include "nn/kernels/kernels.h"

namespace nmt::kernels {

namespace baseline {
extern const PackedKernels kPackedSet;
}
#ifdef __x86_64__
namespace avx2 {
extern const PackedKernels kPackedSet;
}
namespace avx512 {
extern const PackedKernels kPackedSet;
}
namespace avx512_vnni {
extern const PackedKernels kPackedSet;
}
namespace avx512_bf16 {
extern const PackedKernels kPackedSet;
}
#elif defined(__aarch64__)
namespace neon {
extern const PackedKernels kPackedSet;
}
namespace neon_dotprod {
extern const PackedKernels kPackedSet;
}
namespace neon_i8mm {
extern const PackedKernels kPackedSet;
}
namespace neon_bf16 {
extern const PackedKernels kPackedSet;
}
#endif

const PackedKernels* packed_kernels_by_name(const char* name) {
  const auto is = [&](const char* other) { return !std::strcmp(name, other); };
#ifdef __x86_64__
  const bool vnni = kernels_by_name("avx512") && __builtin_cpu_supports("avx512vnni");
  if (is("avx512_bf16")) return vnni && __builtin_cpu_supports("avx512bf16") ? &avx512_bf16::kPackedSet : nullptr;
  if (is("avx512_vnni")) return vnni ? &avx512_vnni::kPackedSet : nullptr;
  if (is("avx512")) return kernels_by_name(name) ? &avx512::kPackedSet : nullptr;
  if (is("avx2")) return kernels_by_name(name) ? &avx2::kPackedSet : nullptr;
#elif defined(__aarch64__)
  const ArmLevel level = arm_level();
  if (is("neon_bf16")) return level >= ArmLevel::kBfloat16 ? &neon_bf16::kPackedSet : nullptr;
  if (is("neon_i8mm")) return level >= ArmLevel::kInt8Matrix ? &neon_i8mm::kPackedSet : nullptr;
  if (is("neon_dotprod")) return level >= ArmLevel::kDotProduct ? &neon_dotprod::kPackedSet : nullptr;
  if (is("neon")) return &neon::kPackedSet;
#endif
  return is("baseline") ? &baseline::kPackedSet : nullptr;
}

const PackedKernels& packed_kernels() {
  static const PackedKernels& best = *packed_kernels_by_name(
      *std::find_if(std::rbegin(kPackedSetNames), std::rend(kPackedSetNames), packed_kernels_by_name));
  return best;
}

bool has_dot_products(WeightFormat format) {
  if (format == WeightFormat::kFloat32) return true;
  if (format == WeightFormat::kBfloat16)
    return packed_kernels_by_name("avx512_bf16") || packed_kernels_by_name("neon_bf16");
  return packed_kernels_by_name("avx512_vnni") || packed_kernels_by_name("neon_dotprod");
}

}  // namespace nmt::kernels
