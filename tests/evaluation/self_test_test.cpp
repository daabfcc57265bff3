#include "evaluation/self_test.h"

#include <gmock/gmock.h>

#include <cmath>

#include "nn/kernels/kernels.h"
#include "nn/kernels/products.h"

namespace nmt::self_test_test {
namespace {

TEST(SelfTest, FindsEveryNumberAsExpected) {
  const auto checks = self_test();
  int kernel_checks = 0, sets = 0;
  for (const auto& [name, difference] : checks) {
    EXPECT_EQ(difference, "") << name;
    kernel_checks += name.starts_with("attention kernel, ") || name.starts_with("product, ");
  }
  for (const char* name : {"baseline", "avx2", "avx512"}) sets += 2 * (kernels::kernels_by_name(name) != nullptr);
  for (const char* name : kernels::kPackedSetNames) sets += 3 * (kernels::packed_kernels_by_name(name) != nullptr);
  EXPECT_EQ(kernel_checks, sets) << "each set that the processor can run, in each precision";
  EXPECT_GE(std::ssize(checks), kernel_checks + 4);
}

TEST(SelfTest, SaysWhatDiffers) {
  const std::vector<double> expected = {1, -200, 0.5};
  EXPECT_EQ(first_difference(expected, expected, 0), "");
  EXPECT_EQ(first_difference(std::vector<double>{1.0009, -200.19, 0.5}, expected, 1e-3), "");
  EXPECT_EQ(first_difference(std::vector<double>{1, -200.21, 0.7}, expected, 1e-3),
            "-200.21 instead of -200, number 2 of 3");
  EXPECT_EQ(first_difference(std::vector<double>{1, -200, NAN}, expected, 1e-3), "nan instead of 0.5, number 3 of 3");
  EXPECT_EQ(first_difference(std::vector<double>{1}, expected, 1), "1 numbers instead of 3");
  EXPECT_EQ(self_test_text(std::vector<SelfCheck>{{"a", ""}, {"b", "2 instead of 1, number 1 of 1"}}),
            "ok      a\ndiffers b: 2 instead of 1, number 1 of 1\n");
}

}  // namespace
}  // namespace nmt::self_test_test
