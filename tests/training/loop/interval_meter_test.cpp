#include "training/loop/interval_meter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/error.h"
#include "support.h"
#include "training/captured_log.h"

namespace nmt::interval_meter_test {
namespace {

UpdateStats stats_of(double loss, int64_t source_tokens, int64_t target_tokens) {
  return {.loss = loss,
          .label_loss = loss / 2,
          .correct = target_tokens / 2,
          .source_tokens = source_tokens,
          .target_tokens = target_tokens,
          .padded_tokens = 2 * (source_tokens + target_tokens),
          .gradient_norm = loss / 10};
}

class IntervalMeterTest : public testing::Test {
 protected:
  double now_ = 100;
  IntervalMeter meter_{[this] { return now_; }};
};

TEST_F(IntervalMeterTest, GivesMeansPerTokenAndSpeeds) {
  meter_.add(stats_of(60, 30, 20));
  auto last = stats_of(20, 10, 20);
  last.correct = 5;
  meter_.add(last);
  now_ += 5;
  const auto interval = meter_.measured(7);
  EXPECT_DOUBLE_EQ(interval.loss, 80.0 / 40);
  EXPECT_DOUBLE_EQ(interval.perplexity, std::exp(40.0 / 40));
  EXPECT_DOUBLE_EQ(interval.accuracy, 15.0 / 40);
  EXPECT_DOUBLE_EQ(interval.gradient_norm, 2) << "of the last update";
  EXPECT_DOUBLE_EQ(interval.source_tokens_per_second, 40.0 / 5);
  EXPECT_DOUBLE_EQ(interval.target_tokens_per_second, 40.0 / 5);
  EXPECT_DOUBLE_EQ(interval.real_token_share, 0.5);
  EXPECT_DOUBLE_EQ(interval.seconds_left, 7 * 5.0 / 2);
  EXPECT_LT(meter_.measured(std::nullopt).seconds_left, 0) << "not known";
}

TEST_F(IntervalMeterTest, ASkippedUpdateHasNoFiguresButTookItsTime) {
  auto skipped = stats_of(std::nan(""), 10, 10);
  skipped.skipped = true;
  meter_.add(skipped);
  now_ += 1;
  EXPECT_TRUE(std::isnan(meter_.measured({}).loss)) << "nothing else is there";
  meter_.add(stats_of(60, 30, 20));
  meter_.add(skipped);
  now_ += 4;
  const auto interval = meter_.measured(6);
  EXPECT_DOUBLE_EQ(interval.loss, 3);
  EXPECT_DOUBLE_EQ(interval.perplexity, std::exp(1.5));
  EXPECT_DOUBLE_EQ(interval.accuracy, 0.5);
  EXPECT_DOUBLE_EQ(interval.gradient_norm, 6);
  EXPECT_DOUBLE_EQ(interval.source_tokens_per_second, 50.0 / 5);
  EXPECT_DOUBLE_EQ(interval.seconds_left, 6 * 5.0 / 3);
}

TEST_F(IntervalMeterTest, LeavesOutWhatIsNotTraining) {
  meter_.add(stats_of(60, 30, 20));
  now_ += 15;
  meter_.leave_out(5);
  EXPECT_DOUBLE_EQ(meter_.measured({}).target_tokens_per_second, 2);
}

TEST_F(IntervalMeterTest, BeginsAnew) {
  EXPECT_TRUE(meter_.empty());
  meter_.add(stats_of(60, 30, 20));
  EXPECT_FALSE(meter_.empty());
  now_ += 5;
  meter_.begin();
  EXPECT_TRUE(meter_.empty());
  meter_.add(stats_of(8, 4, 4));
  now_ += 1;
  EXPECT_DOUBLE_EQ(meter_.measured({}).loss, 2);
  EXPECT_DOUBLE_EQ(meter_.measured({}).source_tokens_per_second, 4);
}

TEST(EpochSums, AreThoseOfOneEpochWithoutSkippedUpdates) {
  ProgressState progress;
  add_update(progress.epoch, 1, stats_of(100, 9, 9));
  add_update(progress.epoch, 2, stats_of(60, 30, 20));
  auto skipped = stats_of(NAN, 5, 5);
  skipped.skipped = true;
  add_update(progress.epoch, 2, skipped);
  add_update(progress.epoch, 2, stats_of(25, 10, 5));
  progress.update = 11;
  const auto report = epoch_report(progress);
  EXPECT_EQ(report.epoch, 2);
  EXPECT_EQ(report.update, 11);
  EXPECT_DOUBLE_EQ(report.loss, 85.0 / 25);
  EXPECT_DOUBLE_EQ(report.perplexity, std::exp(42.5 / 25));
}

TEST(UpdateGuard, EndsARunThatHasDiverged) {
  test::CapturedLog log;
  const UpdateGuard guard(0.5, log.log());
  ProgressState progress;
  const UpdateStats skipped{.skipped = true};
  for (int64_t update = 1; update <= 9; ++update) guard.check(update, skipped, progress);
  guard.check(10, {}, progress);
  EXPECT_EQ(progress.skipped_in_a_row, 0);
  for (int64_t update = 11; update <= 19; ++update) guard.check(update, skipped, progress);
  EXPECT_EQ(progress.skipped_updates, 18);
  const auto message = test::message_of<Error>([&] { guard.check(20, skipped, progress); });
  EXPECT_TRUE(message.starts_with("training.lr 0.5: 10 updates in a row were not finite: the model has diverged; "))
      << message;
}

// state.json of a long run on a small machine stays small: a line for each split batch once grew without end.
TEST(UpdateGuard, CountsWhatItCannotListForEver) {
  test::CapturedLog log;
  const UpdateGuard guard(0.5, log.log());
  ProgressState progress;
  for (int64_t update = 1; update <= 5000; ++update) guard.check(update, {.split = true}, progress);
  EXPECT_EQ(std::ssize(progress.events) + progress.later_events, 5000);
  EXPECT_EQ(progress.events.front(), "update 1: a batch was split for lack of memory");
  EXPECT_LT(progress.to_json().dump().size(), 3000u);
  const auto text = log.text();
  EXPECT_EQ(text.find("warning: update 1: a batch was split"), 0u) << text;
  EXPECT_EQ(text.find("update 2"), std::string::npos) << "one warning";
}

}  // namespace
}  // namespace nmt::interval_meter_test
