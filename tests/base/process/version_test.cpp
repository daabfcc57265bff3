#include "base/process/version.h"

#include <gmock/gmock.h>

#include <sstream>

#include "base/files/file.h"
#include "support.h"

namespace nmt::version_test {
namespace {

TEST(Version, IsTheOneOfTheBuildFile) {
  EXPECT_THAT(version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(read_file(test::source_directory() / "CMakeLists.txt"),
              testing::HasSubstr("project(nmt VERSION " + version() + " "));
}

TEST(CpuFeatures, AgreeWithTheKernel) {
#if !defined(__x86_64__)
  EXPECT_EQ(cpu_features(), "");
#else
  const std::string info = read_file("/proc/cpuinfo");
  const auto flags = info.find("\nflags");
  if (flags == std::string::npos) GTEST_SKIP() << "/proc/cpuinfo has no flags";
  std::istringstream words(info.substr(flags, info.find('\n', flags + 1) - flags));
  std::string known = " ";
  for (std::string word; words >> word;) known += word + " ";
  std::string expected;
  for (const auto& [flag, name] : {std::pair{"avx2", "AVX2"}, std::pair{"avx512f", "AVX512"},
                                   std::pair{"avx512_bf16", "AVX512-BF16"}, std::pair{"amx_tile", "AMX"}}) {
    if (known.find(std::string(" ") + flag + " ") == std::string::npos) continue;
    expected += (expected.empty() ? "" : " ") + std::string(name);
  }
  EXPECT_EQ(cpu_features(), expected);
#endif
}

TEST(CpuName, IsWhatTheKernelSays) {
  const std::string info = read_file("/proc/cpuinfo");
  if (info.find("model name") == std::string::npos) GTEST_SKIP() << "/proc/cpuinfo has no model name";
  EXPECT_FALSE(cpu_name().empty());
  EXPECT_THAT(info, testing::HasSubstr(": " + cpu_name() + "\n"));
}

}  // namespace
}  // namespace nmt::version_test
