#include "nn/kernels/kernels.h"

#include <cstring>
#include <initializer_list>

#include "nn/kernels/kernel_sets.h"
#include "nn/kernels/x86_level.h"

namespace nmt::kernels {

namespace baseline {
extern const Kernels kSet;
}
#ifdef __x86_64__
namespace avx2 {
extern const Kernels kSet;
}
namespace avx512 {
extern const Kernels kSet;
}
#endif

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

}  // namespace nmt::kernels
