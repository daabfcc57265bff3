#include "nn/inference/weights.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/error.h"
#include "config/sinusoid_values.h"

namespace nmt {

void check_length(int64_t needed, int64_t limit, const char* kind) {
  if (needed <= limit) return;
  throw Error(
      fmt::format("model.max_positions: a sentence of {} tokens does not fit the {} {} positions; raise it or shorten "
                  "the input (data.maxlen1, data.maxlen2)",
                  needed, limit, kind));
}

}  // namespace nmt

namespace nmt::inference {

void use_huge_pages(const void* memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t kHuge = uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<uintptr_t>(memory), end = begin + bytes;
  const uintptr_t first = (begin + kHuge - 1) / kHuge * kHuge, last = end / kHuge * kHuge;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

PositionTable SinusoidTable::table(int64_t count) {
  const std::lock_guard lock(mutex_);
  const int64_t there = values_ ? std::ssize(*values_) / features_ : 0;
  if (there < count) {
    const int64_t needed = std::max<int64_t>(256, 2 * count);
    values_ = std::make_shared<const std::vector<float>>(sinusoid_values(form_, 0, needed, features_));
  }
  return {.rows = values_->data(), .count = std::ssize(*values_) / features_, .owner = values_};
}

}  // namespace nmt::inference
