#include "nn/kernels/kernel_sets.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "base/error.h"

namespace nmt::kernels {

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

}  // namespace nmt::kernels
