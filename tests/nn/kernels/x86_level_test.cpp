#include "nn/kernels/x86_level.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

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

std::string of_cpuinfo(const std::string& name) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with(name)) return line + ' ';
  return {};
}

// Flags as the system names the processor.
TEST(X86Level, CallsBfloat16QuickOnProcessorsOfAmd) {
  const std::string flags = of_cpuinfo("flags"), maker = of_cpuinfo("vendor_id");
  if (flags.empty() || maker.empty()) GTEST_SKIP() << "/proc/cpuinfo tells no features of this processor";
  const bool has_instruction = flags.find(" avx512_bf16 ") != std::string::npos;
  const bool of_amd = maker.find("AuthenticAMD") != std::string::npos;
  EXPECT_EQ(kernels::has_quick_bfloat16(), has_instruction && of_amd);
  EXPECT_EQ(kernels::has_bfloat16_tiles(), flags.find(" amx_bf16 ") != std::string::npos);
}

}  // namespace
}  // namespace nmt::x86_level_test
