#include "nn/kernels/packed/packed_product.h"

#include <cstring>
#include <initializer_list>

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
#endif

const PackedKernels* packed_kernels_by_name(const char* name) {
#ifdef __x86_64__
  const bool vnni = kernels_by_name("avx512") && __builtin_cpu_supports("avx512vnni");
  const auto is = [&](const char* other) { return !std::strcmp(name, other); };
  if (is("avx512_bf16")) return vnni && __builtin_cpu_supports("avx512bf16") ? &avx512_bf16::kPackedSet : nullptr;
  if (is("avx512_vnni")) return vnni ? &avx512_vnni::kPackedSet : nullptr;
  if (is("avx512")) return kernels_by_name(name) ? &avx512::kPackedSet : nullptr;
  if (is("avx2")) return kernels_by_name(name) ? &avx2::kPackedSet : nullptr;
#endif
  return std::strcmp(name, "baseline") ? nullptr : &baseline::kPackedSet;
}

const PackedKernels& packed_kernels() {
  static const PackedKernels& best = *[] {
    for (const char* name : {"avx512_bf16", "avx512_vnni", "avx512", "avx2"})
      if (const PackedKernels* set = packed_kernels_by_name(name)) return set;
    return packed_kernels_by_name("baseline");
  }();
  return best;
}

bool has_dot_products(WeightFormat format) {
  if (format == WeightFormat::kFloat32) return true;
  const bool bf16 = packed_kernels_by_name("avx512_bf16");
  return format == WeightFormat::kBfloat16 ? bf16 : bf16 || packed_kernels_by_name("avx512_vnni");
}

}  // namespace nmt::kernels
