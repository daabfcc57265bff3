#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "base/files/file.h"
#include "base/process/program_description.h"
#include "support.h"

namespace nmt::version_test {
namespace {

TEST(Version, IsTheOneOfTheBuildFile) {
  EXPECT_THAT(version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(read_file(test::source_directory() / "CMakeLists.txt"),
              testing::HasSubstr("project(nmt VERSION " + version() + " "));
}

TEST(CpuFeatures, AgreeWithTheKernel) {
#if defined(__x86_64__)
  constexpr const char* kLine = "\nflags";
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"avx2", "AVX2"}, {"avx512f", "AVX512"}, {"avx512_bf16", "AVX512-BF16"}, {"amx_tile", "AMX"}};
#else
  constexpr const char* kLine = "\nFeatures";
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"asimd", "NEON"}, {"asimddp", "DotProd"}, {"i8mm", "I8MM"}, {"bf16", "BF16"}};
#endif
  const std::string info = read_file("/proc/cpuinfo");
  const auto flags = info.find(kLine);
  if (flags == std::string::npos) GTEST_SKIP() << "/proc/cpuinfo tells no features of this processor";
  std::istringstream words(info.substr(flags, info.find('\n', flags + 1) - flags));
  std::string known = " ";
  for (std::string word; words >> word;) known += word + " ";
  std::string expected;
  for (const auto& [flag, name] : kNames) {
    if (known.find(std::string(" ") + flag + " ") == std::string::npos) continue;
    expected += (expected.empty() ? "" : " ") + std::string(name);
  }
  EXPECT_EQ(cpu_features(), expected);
}

#ifdef __aarch64__
TEST(CpuFeatures, AreThoseOfTheEmulatedProcessor) {
  const std::map<std::string, std::string> features = {
      {"cortex-a72", "NEON"}, {"neoverse-n1", "NEON DotProd"}, {"max", "NEON DotProd I8MM BF16"}};
  const char* processor = std::getenv("QEMU_CPU");
  if (!processor) GTEST_SKIP() << "not under QEMU";
  ASSERT_TRUE(features.contains(processor)) << processor;
  EXPECT_EQ(cpu_features(), features.at(processor));
}
#endif

TEST(CpuName, IsWhatTheKernelSays) {
  const std::string info = read_file("/proc/cpuinfo");
  if (info.find("model name") == std::string::npos) GTEST_SKIP() << "/proc/cpuinfo has no model name";
  EXPECT_FALSE(cpu_name().empty());
  EXPECT_THAT(info, testing::HasSubstr(": " + cpu_name() + "\n"));
}

TEST(CpuName, IsReadFromTheTextOfTheKernel) {
  const auto name = [](const char* text) {
    std::istringstream info(text);
    return cpu_name_in(info);
  };
  EXPECT_EQ(name("processor\t: 0\nmodel name\t: Some Processor 9000\nflags\t\t: a b\n"), "Some Processor 9000");
  EXPECT_EQ(name("processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"),
            "ARM64 processor 0x41 0xd0c");
  EXPECT_EQ(name("processor\t: 0\nmodel name\t:\n"), "unknown processor");
  EXPECT_EQ(name(""), "unknown processor");
}

}  // namespace
}  // namespace nmt::version_test
