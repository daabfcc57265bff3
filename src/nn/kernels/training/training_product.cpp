#include "nn/kernels/training/training_product.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <cstring>

namespace nmt::kernels {

namespace baseline {
extern const TrainingKernels kTrainingSet;
}
#ifdef __x86_64__
namespace avx512_bf16 {
extern const TrainingKernels kTrainingSet;
}
#endif

namespace {

// LibTorch multiplies by AMX's tiles where they are.
bool has_tiles() {
#if defined(__x86_64__) && defined(__GNUC__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kAmxBf16 = 1 << 22;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & kAmxBf16);
#else
  return false;
#endif
}

}  // namespace

const TrainingKernels* training_kernels_by_name(const char* name) {
#ifdef __x86_64__
  if (!std::strcmp(name, "avx512_bf16")) return packed_kernels_by_name(name) ? &avx512_bf16::kTrainingSet : nullptr;
#endif
  return std::strcmp(name, "baseline") ? nullptr : &baseline::kTrainingSet;
}

const TrainingKernels* training_kernels() {
  // Not chosen yet: bits of trainings change, and a model of the system tests has to be trained anew for it.
  constexpr bool kIsChosen = false;
  static const TrainingKernels* const kBest =
      !kIsChosen || has_tiles() ? nullptr : training_kernels_by_name("avx512_bf16");
  return kBest;
}

}  // namespace nmt::kernels
