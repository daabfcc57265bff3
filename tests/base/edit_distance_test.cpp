#include "base/edit_distance.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

TEST(NearestName, IsNearOrBeginsSo) {
  const std::vector<std::string> names = {"beam-size", "batch-size", "no-repeat-ngram-size", "threads"};
  EXPECT_EQ(nearest_name("beamsize", names), "beam-size");
  EXPECT_EQ(nearest_name("baem-size", names), "beam-size");
  EXPECT_EQ(nearest_name("no-repeat", names), "no-repeat-ngram-size");
  EXPECT_EQ(nearest_name("alignment", names), std::nullopt);
  EXPECT_EQ(nearest_name("th", names), std::nullopt) << "too short to tell";
  EXPECT_EQ(nearest_name(std::string(1000, 'x'), names), std::nullopt);
}

}  // namespace
}  // namespace nmt::edit_distance_test
