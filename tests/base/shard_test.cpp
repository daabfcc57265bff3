#include "base/shard.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "support.h"

namespace nmt::shard_test {
namespace {

TEST(Shard, IsReadAsItIsWritten) {
  const Shard shard = parse_shard("2/8");
  EXPECT_EQ(shard.number, 2);
  EXPECT_EQ(shard.count, 8);
  for (const char* text : {"", "2", "0/2", "3/2", "-1/2", "1/0", "1/2/3", "1/2x", "a/b", "1000001/1000001"})
    EXPECT_EQ(test::message_of<Error>([&] { parse_shard(text); }),
              "--shard " + std::string(text) + ": must be I/N with I from 1 to N, such as 2/8");
}

TEST(Shard, HasLinesThatNoOtherHas) {
  for (const int64_t lines : {0, 1, 7, 8, 1000}) {
    int64_t next = 0;
    for (int64_t number = 1; number <= 8; ++number) {
      const Shard shard{.number = number, .count = 8};
      EXPECT_EQ(shard.first_line(lines), next);
      next = shard.end_line(lines);
      EXPECT_NEAR(static_cast<double>(next - shard.first_line(lines)), static_cast<double>(lines) / 8, 1);
    }
    EXPECT_EQ(next, lines);
  }
}

TEST(Shard, HasHashesThatNoOtherHas) {
  constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();
  EXPECT_TRUE(Shard().contains(kLast));
  for (const int64_t count : {2, 3, 7})
    for (const uint64_t hash : {uint64_t{0}, kLast / 7, kLast / 3, kLast / 3 + 1, kLast / 2, kLast / 2 + 1, kLast}) {
      int parts = 0;
      for (int64_t number = 1; number <= count; ++number)
        parts += Shard{.number = number, .count = count}.contains(hash);
      EXPECT_EQ(parts, 1) << hash << " of " << count;
    }
}

}  // namespace
}  // namespace nmt::shard_test
