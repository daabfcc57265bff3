#include "nn/kernels/kernels.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <string>

#include "base/error.h"
#include "nn/kernels/arm_level.h"
#include "nn/kernels/products.h"
#include "nn/kernels/x86_level.h"

namespace nmt::kernels {

namespace baseline {
extern const Kernels kSet;
extern const PackedKernels kPackedSet;
extern const TrainingKernels kFloatTraining, kBfloat16Training;
}  // namespace baseline
#ifdef __x86_64__
namespace avx2 {
extern const Kernels kSet;
extern const PackedKernels kPackedSet;
extern const TrainingKernels kFloatTraining, kBfloat16Training;
}  // namespace avx2
namespace avx_vnni {
extern const PackedKernels kPackedSet;
}
namespace avx512 {
extern const Kernels kSet;
extern const PackedKernels kPackedSet;
extern const TrainingKernels kFloatTraining, kBfloat16Training;
}  // namespace avx512
namespace avx512_vnni {
extern const PackedKernels kPackedSet;
}
namespace avx512_bf16 {
extern const PackedKernels kPackedSet;
extern const TrainingKernels kFloatTraining, kBfloat16Training;
}  // namespace avx512_bf16
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

namespace {

// For tests and measurements: NMT_KERNEL_SET in the environment is the last set of kPackedSetNames that may be used,
// of products and of other kernels alike. Throws Error where no set has this name.
bool environment_allows(const char* set) {
  const auto place = [](const char* name) {
    return std::find_if(std::begin(kPackedSetNames), std::end(kPackedSetNames),
                        [&](const char* other) { return !std::strcmp(name, other); });
  };
  static const auto last = [&] {
    const char* name = std::getenv("NMT_KERNEL_SET");
    if (!name) return std::end(kPackedSetNames);
    if (place(name) != std::end(kPackedSetNames)) return place(name);
    std::string names;
    for (const char* one : kPackedSetNames) names += std::string(names.empty() ? "" : ", ") + one;
    throw Error("NMT_KERNEL_SET=" + std::string(name) + ": no set of kernels has this name; there are " + names);
  }();
  return place(set) <= last;
}

const char* forced_set = nullptr;

// MKL, which multiplies float32 for LibTorch, is at its best on these alone.
bool is_of_intel() {
#ifdef __x86_64__
  return __builtin_cpu_is("intel");
#else
  return true;  // no set but the baseline
#endif
}

}  // namespace

const Kernels* kernels_by_name(const char* name) {
#ifdef __x86_64__
  // The whole level that the files are compiled for.
  if (!std::strcmp(name, "avx512")) return has_x86_64_level(4) && environment_allows(name) ? &avx512::kSet : nullptr;
  if (!std::strcmp(name, "avx2")) return has_x86_64_level(3) && environment_allows(name) ? &avx2::kSet : nullptr;
#endif
  return std::strcmp(name, "baseline") ? nullptr : &baseline::kSet;
}

const Kernels& kernels() {
  static const Kernels& best = *[] {
    for (const char* name : {"avx512", "avx2"})
      if (const Kernels* set = kernels_by_name(name)) return set;
    return kernels_by_name("baseline");
  }();
  return best;
}

const PackedKernels* packed_kernels_by_name(const char* name) {
  const auto is = [&](const char* other) { return !std::strcmp(name, other); };
  if (!environment_allows(name)) return nullptr;
#ifdef __x86_64__
  const bool vnni = kernels_by_name("avx512") && __builtin_cpu_supports("avx512vnni");
  if (is("avx512_bf16")) return vnni && __builtin_cpu_supports("avx512bf16") ? &avx512_bf16::kPackedSet : nullptr;
  if (is("avx512_vnni")) return vnni ? &avx512_vnni::kPackedSet : nullptr;
  if (is("avx512")) return kernels_by_name(name) ? &avx512::kPackedSet : nullptr;
  if (is("avx_vnni")) return kernels_by_name("avx2") && has_avx_vnni() ? &avx_vnni::kPackedSet : nullptr;
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
  static const PackedKernels& best = []() -> const PackedKernels& {
    const auto suits = [](const char* name) {
      return packed_kernels_by_name(name) && (std::strcmp(name, "avx512_bf16") || has_quick_bfloat16());
    };
    return *packed_kernels_by_name(*std::find_if(std::rbegin(kPackedSetNames), std::rend(kPackedSetNames), suits));
  }();
  return best;
}

const TrainingKernels* training_kernels_by_name(const char* name, Type type) {
  const auto of_type = [&](const TrainingKernels& for_float, const TrainingKernels& for_bfloat16) {
    return type == Type::kFloat ? &for_float : &for_bfloat16;
  };
#ifdef __x86_64__
  const auto is = [&](const char* other) { return !std::strcmp(name, other) && packed_kernels_by_name(other); };
  if (is("avx512_bf16")) return of_type(avx512_bf16::kFloatTraining, avx512_bf16::kBfloat16Training);
  if (is("avx512")) return of_type(avx512::kFloatTraining, avx512::kBfloat16Training);
  if (is("avx2")) return of_type(avx2::kFloatTraining, avx2::kBfloat16Training);
#endif
  return std::strcmp(name, "baseline") ? nullptr : of_type(baseline::kFloatTraining, baseline::kBfloat16Training);
}

void force_training_kernels(const char* name) { forced_set = name; }

const TrainingKernels* training_kernels(Type type) {
  if (forced_set) return training_kernels_by_name(forced_set, type);
  static const TrainingKernels* const kBestFloat = []() -> const TrainingKernels* {
    if (is_of_intel()) return nullptr;
    for (const char* name : {"avx512", "avx2"})
      if (const auto* set = training_kernels_by_name(name, Type::kFloat)) return set;
    return nullptr;
  }();
  static const TrainingKernels* const kBestBfloat16 = []() -> const TrainingKernels* {
    // LibTorch multiplies by tiles where they are.
    if (has_bfloat16_tiles() || !training_kernels_by_name("avx512_bf16", Type::kBfloat16)) return nullptr;
    return training_kernels_by_name(has_quick_bfloat16() ? "avx512_bf16" : "avx512", Type::kBfloat16);
  }();
  return type == Type::kFloat ? kBestFloat : kBestBfloat16;
}

}  // namespace nmt::kernels
