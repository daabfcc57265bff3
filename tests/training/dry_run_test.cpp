#include "training/dry_run.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace nmt::dry_run_test {
namespace {

TEST(DryRun, ReadsSizes) {
  EXPECT_EQ(parse_bytes("80GB"), 80'000'000'000);
  EXPECT_EQ(parse_bytes("1.5 TB"), 1'500'000'000'000);
  EXPECT_EQ(parse_bytes("512MiB"), 512LL << 20);
  EXPECT_EQ(parse_bytes("7B"), 7);
}

TEST(DryRun, RefusesWhatIsNoSize) {
  for (const char* text : {"", "80", "GB", "-3GB", "80Gb", "80GBs", "1e40GB", "0MB", "0.5B", "0.0001KB", "nanGB"}) {
    try {
      parse_bytes(text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                std::string("--memory '") + text + "': a number and a unit, such as 80GB or 512MiB");
    }
  }
}

}  // namespace
}  // namespace nmt::dry_run_test
