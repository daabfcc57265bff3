#include <gmock/gmock.h>

#include "data/preparation/prepared_corpus_writer.h"

namespace nmt::stage_times_test {
namespace {

using enum PreprocessStage;

TEST(StageTimes, CountsEachSecondOnce) {
  double now = 100;
  StageTimes times([&] { return now; });
  now += 1;  // nobody's
  {
    const auto reading = times.measure(kReading);
    now += 3;
  }
  {
    const auto writing = times.measure(kWriting);
    now += 2;
    for (int chunk = 0; chunk < 2; ++chunk) {
      const auto checksums = times.measure(kChecksums);
      now += 0.5;
    }
    now += 2;
  }
  {
    const auto reading = times.measure(kReading);
    now += 1;
  }
  EXPECT_EQ(times.seconds(kReading), 4);
  EXPECT_EQ(times.seconds(kWriting), 4);
  EXPECT_EQ(times.seconds(kChecksums), 1);
  EXPECT_EQ(times.seconds(kEncoding), 0);
  EXPECT_THAT(times.table(), testing::ElementsAre("10.0 s, of these:", "   40.0 %       4.0 s  reading and filtering",
                                                  "   40.0 %       4.0 s  writing", "   10.0 %       1.0 s  checksums",
                                                  "   10.0 %       1.0 s  the rest"));
}

TEST(StageTimes, SaysWhatIsUnderWay) {
  double now = 0;
  StageTimes times([&] { return now; });
  EXPECT_EQ(times.under_way(), "under way");
  const auto writing = times.measure(kWriting);
  now += 100;
  const auto checksums = times.measure(kChecksums);
  now += 65;
  EXPECT_EQ(times.under_way(), "checksums: 1:05 so far");
}

TEST(StageTimes, AnExceptionEndsAStage) {
  double now = 0;
  StageTimes times([&] { return now; });
  try {
    const auto encoding = times.measure(kEncoding);
    now += 2;
    throw 1;
  } catch (int) {
  }
  now += 5;
  EXPECT_EQ(times.seconds(kEncoding), 2);
}

}  // namespace
}  // namespace nmt::stage_times_test
