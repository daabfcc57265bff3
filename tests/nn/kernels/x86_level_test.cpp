#include "nn/kernels/x86_level.h"

#include <gtest/gtest.h>

#include "nn/kernels/kernels.h"

namespace nmt::x86_level_test {
namespace {

TEST(X86Level, IsTheOneThatTheCompilerFinds) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  EXPECT_EQ(kernels::has_x86_64_level(3), bool(__builtin_cpu_supports("x86-64-v3")));
  EXPECT_EQ(kernels::has_x86_64_level(4), bool(__builtin_cpu_supports("x86-64-v4")));
#endif
  EXPECT_FALSE(kernels::has_x86_64_level(5));
}

TEST(X86Level, LetsKernelsRun) {
  EXPECT_EQ(kernels::kernels_by_name("avx2") != nullptr, kernels::has_x86_64_level(3));
  EXPECT_EQ(kernels::kernels_by_name("avx512") != nullptr, kernels::has_x86_64_level(4));
  EXPECT_NE(kernels::kernels_by_name("baseline"), nullptr);
}

}  // namespace
}  // namespace nmt::x86_level_test
