#include "base/byte_count.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace nmt::byte_count_test {
namespace {

TEST(ParseBytes, ReadsSizes) {
  EXPECT_EQ(parse_bytes("--memory", "80GB"), 80'000'000'000);
  EXPECT_EQ(parse_bytes("--memory", "1.5 TB"), 1'500'000'000'000);
  EXPECT_EQ(parse_bytes("--memory", "512MiB"), 512LL << 20);
  EXPECT_EQ(parse_bytes("--memory", "7B"), 7);
  EXPECT_EQ(parse_bytes("memory", "1 KB"), 1000);
  EXPECT_EQ(parse_bytes("memory", "1 kB"), 1000);
}

TEST(ParseBytes, RefusesWhatIsNoSize) {
  for (const char* text : {"", "80", "GB", "-3GB", "80Gb", "80GBs", "1e40GB", "0MB", "0.5B", "0.0001KB", "nanGB"}) {
    try {
      parse_bytes("--memory", text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                std::string("--memory '") + text +
                    "': give a number and a unit (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), such as 80GB or 512MiB");
    }
  }
}

}  // namespace
}  // namespace nmt::byte_count_test
