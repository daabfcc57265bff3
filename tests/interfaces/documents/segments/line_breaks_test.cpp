#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "documents/segments/text_document.h"

namespace nmt::documents::line_breaks_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LineBreaks, AsFewLinesAsFitAndOfEqualLength) {
  EXPECT_THAT(balanced_breaks("one two three", 20, 2), IsEmpty());
  EXPECT_THAT(balanced_breaks("one two three", 10, 2), ElementsAre(7));
  EXPECT_THAT(balanced_breaks("a b c d e f", 3, 2), ElementsAre(5));
  EXPECT_THAT(balanced_breaks("a b c d e f", 3, 3), ElementsAre(3, 7));
  EXPECT_THAT(balanced_breaks("a b c d e f", 3, 1), IsEmpty());
  EXPECT_THAT(balanced_breaks("averylongword", 3, 2), IsEmpty());
  EXPECT_THAT(balanced_breaks("", 3, 2), IsEmpty());
  // Characters count, not bytes.
  EXPECT_THAT(balanced_breaks("\u00E4\u00E4\u00E4 b", 5, 2), IsEmpty());
}

}  // namespace
}  // namespace nmt::documents::line_breaks_test
