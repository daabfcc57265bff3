#include <gtest/gtest.h>

#include "report/records/run_records.h"

namespace nmt::validation_names_test {
namespace {

TEST(AveragedUpdates, AreShortHoweverManyThereAre) {
  EXPECT_EQ(averaged_updates(""), "");
  EXPECT_EQ(averaged_updates("moving average"), "");
  EXPECT_EQ(averaged_updates("average of updates 7, 28, 49"), "of-3-from-7-to-49");
  std::string weights = "average of updates 1000";
  for (int update = 2000; update <= 20000; update += 1000) weights += ", " + std::to_string(update);
  EXPECT_EQ(averaged_updates(weights), "of-20-from-1000-to-20000");
}

TEST(AveragedUpdates, AreNumbersWhateverATableHolds) {
  EXPECT_EQ(averaged_updates("../../7/x"), "of-1-from-7-to-7");
  EXPECT_EQ(averaged_updates("1, " + std::string(300, '9') + ", 3"), "of-2-from-1-to-3");
  EXPECT_EQ(averaged_updates(std::string(300, '9')), "");
}

TEST(ValidationStem, TellsTheWeightsOfAnUpdateApart) {
  EXPECT_EQ(validation_stem({.update = 49}), "00000049");
  EXPECT_EQ(validation_stem({.update = 49, .weights = "moving average"}), "00000049-average");
  EXPECT_EQ(validation_stem({.update = 49, .weights = "average of updates 35, 42, 49"}),
            "00000049-average-of-3-from-35-to-49");
  EXPECT_EQ(validation_stem({.update = 49, .weights = "average of updates 7, 28, 49"}),
            "00000049-average-of-3-from-7-to-49");
  EXPECT_EQ(validation_stem({.update = 1234567890}), "1234567890");
}

TEST(UpdateOfFile, IsThatOfEveryStem) {
  for (const char* weights : {"", "moving average", "average of updates 7, 28, 49"}) {
    const auto stem = validation_stem({.update = 49, .weights = weights});
    EXPECT_EQ(update_of_file("samples/" + stem + ".txt"), 49) << stem;
    EXPECT_EQ(std::filesystem::path(stem + ".txt").stem(), stem) << "the writer compares them";
  }
  EXPECT_EQ(update_of_file("1234567890.svg"), 1234567890);
  for (const char* other : {"notes.txt", "0000049.txt", "-00000049.txt", "99999999999999999999.txt", ""})
    EXPECT_EQ(update_of_file(other), std::nullopt) << other;
}

}  // namespace
}  // namespace nmt::validation_names_test
