// The twins themselves are tested by whole updates (packed_transformer_test.cpp); here is what dropout draws.
#include "training/packed/plain_operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tensor_support.h"

namespace nmt::plain_operations_test {
namespace {

using ::testing::ElementsAre;

// Known answers: Random123's kat_vectors for philox4x32 with 7 rounds have counters that are not of this form but for
// the first; the others are those of tests/kernels/twins.py.
TEST(PlainOperations, RandomNumbersArePhilox) {
  EXPECT_THAT(philox(0, 0, 0), ElementsAre(0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48));
  EXPECT_THAT(philox(0x123456789ABCDEF, 0, 3), ElementsAre(0x540e27c4, 0x1660d347, 0xa6b8d679, 0x2371720f));
  EXPECT_THAT(philox(0x123456789ABCDEF, 100001, 7), ElementsAre(0x698bbfb0, 0x7849ed3b, 0x34414bb2, 0x64b75b18));
}

// twins.kept(numpy.arange(40, 80), 0x123456789ABCDEF, 3, 0.2) of tests/kernels: two rows that are 20 numbers apart.
TEST(PlainOperations, DropoutKeepsTheElementsThatTheKernelsKeep) {
  const std::vector<int64_t> first{40, 60};
  const auto kept = dropout_factors(0x123456789ABCDEF, 3, 0.2, first, 20) > 0;
  const auto expected = torch::tensor({{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1, 0},
                                       {1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1}});
  EXPECT_TRUE(kept.to(torch::kInt64).equal(expected)) << kept;
  EXPECT_TRUE(dropout_factors(1, 2, 0.2, first, 20).max().item<double>() == 1 / (1 - 0.2));
  EXPECT_TRUE(dropout_factors(1, 2, 0, first, 20).equal(torch::ones({2, 20}, torch::kFloat64)));
}

}  // namespace
}  // namespace nmt::plain_operations_test
