#include <gtest/gtest.h>

#include "base/unicode.h"

namespace nmt::byte_order_mark_test {
namespace {

TEST(ByteOrderMark, IsTakenOnceFromTheBeginning) {
  EXPECT_EQ(without_byte_order_mark("\uFEFF\uFEFFa\uFEFF"), "\uFEFFa\uFEFF");
  EXPECT_EQ(without_byte_order_mark("a"), "a");
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB"), "\xEF\xBB");
  EXPECT_EQ(without_byte_order_mark(""), "");
}

TEST(ByteOrderMark, HasThreeBytes) {
  EXPECT_EQ(byte_order_mark_length("\uFEFF"), 3u);
  EXPECT_EQ(byte_order_mark_length("a\uFEFF"), 0u);
  EXPECT_EQ(byte_order_mark_length(""), 0u);
}

}  // namespace
}  // namespace nmt::byte_order_mark_test
