#include "report/records/run_records.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files/file.h"
#include "report/records/metrics_writer.h"
#include "support.h"

namespace nmt::run_records_test {
namespace {

using testing::ElementsAre;

ValidationReport validation(int64_t update, bool is_best, const std::string& weights = "") {
  return {
      .epoch = 1,
      .update = update,
      .loss = 2,
      .is_best = is_best,
      .sources = {"Hallo ."},
      .references = {"Hello ."},
      .hypotheses = {"Hi " + std::to_string(update) + weights},
      .attention = {{{.name = "decoder.0.cross", .heads = 1, .queries = {"A"}, .keys = {"B"}, .weights = {0.25}}}, {}},
      .attention_lines = {1, 40},
      .weights = weights};
}

class RunRecordsTest : public testing::Test {
 protected:
  void SetUp() override { write_file_atomically(run_ / "config.yaml", "model:\n  d_model: 64\n"); }
  RunRecords records() const { return read_run(run_.path()); }
  test::TemporaryDirectory run_;
};

TEST_F(RunRecordsTest, HaveWhatTheWriterWrote) {
  MetricsWriter writer(run_.path(), {{"toolkit", "1.2.3"}});
  writer.on_start({.device = "cpu", .threads = 2});
  writer.on_interval({.update = 10, .loss = 3.5});
  writer.on_validation(validation(10, true));
  writer.on_interval({.update = 20, .loss = 3.25});
  writer.on_end("20 updates done");
  const auto read = records();
  EXPECT_EQ(read.name, run_.path().filename());
  ASSERT_EQ(read.intervals.size(), 2u);
  EXPECT_EQ(read.intervals[1].interval.loss, 3.25);
  ASSERT_EQ(read.validations.size(), 1u);
  ASSERT_TRUE(read.shown);
  EXPECT_THAT(read.shown->sources, ElementsAre("Hallo ."));
  EXPECT_THAT(read.shown->references, ElementsAre("Hello ."));
  EXPECT_THAT(read.shown->hypotheses, ElementsAre("Hi 10"));
  ASSERT_EQ(read.shown->attention.size(), 2u);
  EXPECT_THAT(read.shown->attention[0].at(0).weights, ElementsAre(0.25f));
  EXPECT_TRUE(read.shown->attention[1].empty());
  EXPECT_THAT(read.shown->attention_lines, ElementsAre(1, 40));
  ASSERT_EQ(read.sessions.size(), 1u);
  EXPECT_EQ(read.sessions[0].end, "20 updates done");
  EXPECT_EQ(read.sessions[0].environment.front(), (std::pair<std::string, std::string>("toolkit", "1.2.3")));
  ASSERT_EQ(read.changed.size(), 1u);
  EXPECT_EQ(read.changed[0].key + " " + read.changed[0].after, "model.d_model 64");
}

TEST_F(RunRecordsTest, ShowTheBestValidation) {
  MetricsWriter writer(run_.path());
  writer.on_validation(validation(10, true));
  writer.on_validation(validation(20, true));
  writer.on_validation(validation(20, false, "average of updates 10, 20"));
  writer.on_validation(validation(30, false));
  EXPECT_EQ(records().shown->update, 20);
  EXPECT_EQ(records().shown->weights, "");
  writer.on_validation(validation(30, true, "average of updates 20, 30"));
  EXPECT_THAT(records().shown->hypotheses, ElementsAre("Hi 30average of updates 20, 30"));
}

TEST_F(RunRecordsTest, ShowTheBestOfSeveralAveragesOfAnUpdate) {
  MetricsWriter writer(run_.path());
  writer.on_validation(validation(30, false));
  writer.on_validation(validation(30, false, "moving average"));
  writer.on_validation(validation(30, true, "average of updates 10, 20, 30"));
  writer.on_validation(validation(30, false, "average of updates 10, 30"));
  EXPECT_EQ(records().shown->weights, "average of updates 10, 20, 30");
  EXPECT_THAT(records().shown->hypotheses, ElementsAre("Hi 30average of updates 10, 20, 30"));
}

TEST_F(RunRecordsTest, ShowAnotherValidationWhereNothingIsKeptOfTheBest) {
  MetricsWriter writer(run_.path());
  writer.on_validation(validation(10, true));
  writer.on_validation(validation(20, false));
  std::filesystem::remove(run_ / "translations/00000010.tsv");
  std::filesystem::remove(run_ / "attention/00000010.json");
  EXPECT_EQ(records().shown->update, 20);
}

TEST_F(RunRecordsTest, LeaveOutALineThatIsHalfWritten) {
  write_file_atomically(run_ / "metrics.jsonl", "{\"update\": 10, \"loss\": 2.5}\n{\"update\": 20, \"lo");
  ASSERT_EQ(records().intervals.size(), 1u);
  EXPECT_EQ(records().intervals[0].interval.loss, 2.5);
  EXPECT_FALSE(records().shown);
}

TEST_F(RunRecordsTest, KeepAConfigurationOfAnotherVersionAsText) {
  write_file_atomically(run_ / "config.yaml", "model:\n  no_such_option: 1\n");
  EXPECT_EQ(records().configuration, "model:\n  no_such_option: 1\n");
  EXPECT_TRUE(records().changed.empty());
}

TEST_F(RunRecordsTest, RefuseWhatIsNoRun) {
  std::filesystem::remove(run_ / "config.yaml");
  EXPECT_EQ(test::message_of<Error>([&] { records(); }),
            run_.path().string() + ": no run directory (it has no config.yaml); name one that nmt-train made");
}

TEST_F(RunRecordsTest, NameAFileThatIsDamaged) {
  MetricsWriter writer(run_.path());
  writer.on_validation(validation(10, true));
  write_file_atomically(run_ / "attention/00000010.json", "{\"sentences\": [{\"layers\": 5}]}");
  EXPECT_THAT(test::message_of<Error>([&] { records(); }),
              testing::HasSubstr("attention/00000010.json: not as nmt-train writes it ("));
}

TEST(SecondsOfTraining, AreThoseOfTheWorkThatStands) {
  RunRecords records;
  records.sessions = {{.update = 0, .time = 1000}, {.update = 20, .time = 5000, .end_time = 5070, .end = "done"}};
  // Updates up to 20 stand of the first session, which was killed; it reported the last of them after 35 s.
  records.intervals = {{{.update = 10}, 1018}, {{.update = 20}, 1035}, {{.update = 30}, 5020}};
  EXPECT_DOUBLE_EQ(seconds_of_training(records), 35 + 70);
  EXPECT_DOUBLE_EQ(seconds_of_training({}), 0);
  // A session between them that was killed at once, and lines before the first.
  records.sessions.insert(records.sessions.begin() + 1, {.update = 10, .time = 2000});
  records.intervals.insert(records.intervals.begin(), {{.update = 0}, 4000});
  EXPECT_DOUBLE_EQ(seconds_of_training(records), 18 + 0 + 70) << "what it did after update 10 was done again";
}

}  // namespace
}  // namespace nmt::run_records_test
