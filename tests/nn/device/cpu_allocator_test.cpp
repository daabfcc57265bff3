#include "nn/device/cpu_allocator.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <new>
#include <vector>

namespace nmt::cpu_allocator_test {
namespace {

TEST(ReuseFreedTensors, HandsOutTheSameMemoryAgain) {
  reuse_freed_tensors();
  const void* first = nullptr;
  {
    auto x = torch::ones({1000, 1000});
    first = x.const_data_ptr();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  }
  auto again = torch::empty({1000, 1000});
  EXPECT_EQ(again.const_data_ptr(), first);
  auto other = torch::empty({1000, 1000});
  EXPECT_NE(other.const_data_ptr(), first);
}

TEST(ReuseFreedTensors, TakesNoMoreFromTheSystemOnceSizesRepeat) {
  reuse_freed_tensors();
  const auto work = [] {
    for (int64_t rows = 1000; rows < 2000; rows += 37) {
      const auto x = torch::ones({rows, 256});
      const auto y = x + x;
      EXPECT_EQ(y.sum().item<double>(), static_cast<double>(2 * rows * 256));
    }
  };
  work();
  const int64_t before = tensor_bytes();
  EXPECT_GT(before, 0);
  for (int i = 0; i < 5; ++i) work();
  EXPECT_LE(tensor_bytes() - before, 1 << 16);  // small tensors come and go
}

// Sizes that never come again: as in a search whose histories grow.
TEST(ReuseFreedTensors, KeepsLittleMoreThanTheLargestNeed) {
  reuse_freed_tensors();
  const int64_t before = tensor_bytes();
  int64_t max = 0;
  for (int64_t rows = 8000; rows < 320000; rows += 8000) {  // up to 328 MB
    const auto x = torch::ones({rows, 256});
    max = std::max<int64_t>(max, x.nbytes());
  }
  EXPECT_LE(tensor_bytes(), before + max + (before + max) / 8 + max / 8);  // one eighth more: sizes are rounded up
  // A smaller tensor takes no more from the system.
  const int64_t now = tensor_bytes();
  const auto x = torch::ones({288000, 256});
  EXPECT_LE(tensor_bytes(), now + (1 << 16));
}

// However large the need was, what lies idle above it stays small.
TEST(ReuseFreedTensors, KeepsAtMost64MegabytesMoreThanALargeNeed) {
  reuse_freed_tensors();
  const int64_t before = tensor_bytes(), large = 96 << 20, larger = 128 << 20;
  const auto tensors = [](int64_t count, int64_t bytes) {
    std::vector<torch::Tensor> made;
    for (int64_t i = 0; i < count; ++i) made.push_back(torch::empty({bytes}, torch::kChar));
    return made;
  };
  tensors(16, large);
  const int64_t most = std::max(before, tensor_bytes());
  for (int64_t count = 1; count < 12; ++count) {
    const auto made = tensors(count, larger);  // none of those that are kept can serve
    EXPECT_LE(tensor_bytes(), most + (64 << 20)) << count;
  }
}

// Blocks like the logits of a small model's steps: all of them fit beside each other.
TEST(ReuseFreedTensors, KeepsSomeMegabytesOfAnySize) {
  reuse_freed_tensors();
  const auto work = [] {
    for (const int64_t rows : {250, 60, 130}) torch::ones({rows, 8000});
  };
  work();
  const int64_t before = tensor_bytes();
  for (int i = 0; i < 5; ++i) work();
  EXPECT_LE(tensor_bytes() - before, 1 << 16);
}

TEST(ReuseFreedTensors, GivesAllBackWhereOthersNeedIt) {
  reuse_freed_tensors();
  { const auto large = torch::empty({40 << 20}, torch::kUInt8); }
  give_back_freed_tensors();
  const int64_t in_use = tensor_bytes();
  { const auto large = torch::empty({40 << 20}, torch::kUInt8); }
  EXPECT_GT(tensor_bytes(), in_use) << "kept again";
  give_back_freed_tensors();
  EXPECT_EQ(tensor_bytes(), in_use);
}

TEST(TensorLimit, RefusesWhatIsAboveIt) {
  reuse_freed_tensors();
  { const auto kept = torch::empty({64 << 20}, torch::kUInt8); }
  measure_tensors_anew();
  const int64_t in_use = most_tensor_bytes_in_use();
  {
    const TensorLimit limit(in_use + (12 << 20));
    const auto bytes = [](int64_t count) { return torch::empty({count << 20}, torch::kUInt8); };
    EXPECT_THROW(bytes(40), std::bad_alloc) << "of the tensor that was kept before";
    { const auto first = bytes(8); }
    const auto second = bytes(10);  // what is kept of the first makes space
    EXPECT_THROW(bytes(4), std::bad_alloc);
    const auto third = bytes(1);
  }
  EXPECT_EQ(torch::empty({64 << 20}, torch::kUInt8).numel(), 64 << 20);
}

TEST(ReuseFreedTensors, TakesEmptyAndSmallTensors) {
  reuse_freed_tensors();
  EXPECT_EQ(torch::empty({0}).numel(), 0);
  auto small = torch::zeros({3});
  small.resize_({5000}).fill_(1);
  EXPECT_EQ(small.sum().item<double>(), 5000);
}

}  // namespace
}  // namespace nmt::cpu_allocator_test
