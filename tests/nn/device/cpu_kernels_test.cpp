#include "nn/device/cpu_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace nmt::cpu_kernels_test {
namespace {

TEST(ParallelRanges, MakeUpTheWhole) {
  for (const int64_t count : {0, 1, 7, 96, 1000})
    for (const int64_t each : {1, 7, 96, 5000}) {
      std::vector<int> times(count, 0);
      parallel_ranges(count, each, [&](int64_t begin, int64_t end) {
        EXPECT_LT(begin, end);
        EXPECT_LE(end - begin, each);
        const bool is_short = end - begin <= std::max<int64_t>(1, each / 4);
        EXPECT_TRUE(is_short || begin % each == 0) << "from " << begin << " to " << end;
        for (int64_t i = begin; i < end; ++i) ++times[i];
      });
      EXPECT_EQ(times, std::vector<int>(count, 1)) << count << " by " << each;
    }
}

TEST(ParallelRanges, AreShortAtTheEnd) {
  constexpr int64_t kCount = 1000, kEach = 40;
  std::vector<int64_t> sizes(kCount, 0);
  parallel_ranges(kCount, kEach, [&](int64_t begin, int64_t end) { sizes[begin] = end - begin; });
  EXPECT_EQ(sizes[0], kEach);
  EXPECT_EQ(sizes[kCount - kEach / 4], kEach / 4);
}

TEST(ParallelRanges, HandOnWhatIsThrown) {
  const auto fail = [](int64_t begin, int64_t) {
    if (begin == 40) throw std::runtime_error("40");
  };
  EXPECT_THROW(parallel_ranges(100, 10, fail), std::runtime_error);
}

}  // namespace
}  // namespace nmt::cpu_kernels_test
