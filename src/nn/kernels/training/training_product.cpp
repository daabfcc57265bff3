#include "nn/kernels/training/training_product.h"

#include <cstring>
#include <initializer_list>

#include "nn/kernels/x86_level.h"

namespace nmt::kernels {

namespace baseline {
extern const TrainingKernels kFloatTraining, kBfloat16Training;
}
#ifdef __x86_64__
namespace avx2 {
extern const TrainingKernels kFloatTraining, kBfloat16Training;
}
namespace avx512 {
extern const TrainingKernels kFloatTraining, kBfloat16Training;
}
namespace avx512_bf16 {
extern const TrainingKernels kFloatTraining, kBfloat16Training;
}
#endif

namespace {

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
