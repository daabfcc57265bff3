#include "base/edit_distance.h"

#include <gtest/gtest.h>

namespace nmt::edit_distance_test {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("train", "train"), 0U);
  EXPECT_EQ(edit_distance("trian", "train"), 1U);   // neighbours swapped
  EXPECT_EQ(edit_distance("tain", "train"), 1U);    // one left out
  EXPECT_EQ(edit_distance("trrain", "train"), 1U);  // one too many
  EXPECT_EQ(edit_distance("brain", "train"), 1U);
  EXPECT_EQ(edit_distance("", "train"), 5U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);  // the textbook's pair
}

TEST(EditDistance, ToleratesAThirdOfTheLettersButThreeAtMost) {
  EXPECT_EQ(tolerated_distance("a"), 1U);
  EXPECT_EQ(tolerated_distance("prepro"), 2U);
  EXPECT_EQ(tolerated_distance("a_very_long_name"), 3U);
}

}  // namespace
}  // namespace nmt::edit_distance_test
