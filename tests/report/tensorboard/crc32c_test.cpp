#include <gtest/gtest.h>

#include <string>

#include "report/tensorboard/tensorboard_writer.h"

namespace nmt::crc32c_test {
namespace {

// RFC 3720, appendix B.4, and the usual check value.
TEST(Crc32c, EqualsThePublishedValues) {
  std::string ascending, descending;
  for (int i = 0; i < 32; ++i) ascending += static_cast<char>(i), descending += static_cast<char>(31 - i);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  EXPECT_EQ(crc32c(ascending), 0x46DD794Eu);
  EXPECT_EQ(crc32c(descending), 0x113FDB5Cu);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(""), 0u);
}

}  // namespace
}  // namespace nmt::crc32c_test
