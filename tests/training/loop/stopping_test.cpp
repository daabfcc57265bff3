#include <gtest/gtest.h>

#include <limits>

#include "training/loop/update_loop.h"

namespace nmt::stopping_test {
namespace {

std::string reason(const Config& config, const ProgressState& progress, double minutes = 0) {
  return reason_to_end(config, progress, minutes).value_or("");
}

TEST(ReasonToEnd, IsTheLimitThatIsReached) {
  Config config;
  config.training.num_epochs = 3;
  config.training.max_updates = 100;
  config.training.max_minutes = 2;
  config.training.max_target_tokens = 5000;
  config.validation.patience = 4;
  ProgressState progress;
  progress.update = 99;
  progress.position.epoch = 2;
  progress.target_tokens = 4999;
  progress.validations_since_best = 3;
  EXPECT_EQ(reason(config, progress, 1.9), "");
  EXPECT_EQ(reason(config, progress, 2), "2 minutes are over");
  auto at = progress;
  at.update = 100;
  EXPECT_EQ(reason(config, at), "100 updates done");
  at = progress;
  at.position.epoch = 3;
  EXPECT_EQ(reason(config, at), "3 epochs done");
  at = progress;
  at.target_tokens = 5010;
  EXPECT_EQ(reason(config, at), "5010 target tokens seen");
  at = progress;
  at.validations_since_best = 4;
  EXPECT_EQ(reason(config, at), "4 validations without a new best bleu");
}

// A run that is resumed with a limit that it has passed.
TEST(ReasonToEnd, SaysWhatIsDone) {
  Config config;
  config.training.max_updates = 10;
  config.training.num_epochs = 0;
  ProgressState progress;
  progress.update = 30;
  progress.position.epoch = 3;
  progress.validations_since_best = 5;
  EXPECT_EQ(reason(config, progress), "30 updates done");
  config.training.max_updates = 0;
  config.training.num_epochs = 2;
  EXPECT_EQ(reason(config, progress), "3 epochs done");
  config.training.num_epochs = 0;
  config.validation.patience = 4;
  EXPECT_EQ(reason(config, progress), "5 validations without a new best bleu");
}

TEST(ReasonToEnd, KnowsNoLimitOfZero) {
  Config config;
  config.training.num_epochs = 0;
  ProgressState progress;
  progress.update = progress.target_tokens = progress.position.epoch = progress.validations_since_best = 1 << 20;
  EXPECT_EQ(reason(config, progress, 1e9), "");
}

TEST(UpdatesLeft, AreThoseOfTheNearerLimit) {
  TrainingConfig config{.accumulate = 2, .num_epochs = 3, .max_updates = 0};
  ProgressState progress;
  progress.update = 60;
  progress.position = {.epoch = 1, .batch = 20};
  EXPECT_EQ(updates_left(config, progress, 100), 2 * 50 - 10);
  progress.position.batch = 21;
  EXPECT_EQ(updates_left(config, progress, 100), 2 * 50 - 10) << "the last one may be a short one";
  progress.target_tokens = 6000;
  config.max_target_tokens = 6950;
  EXPECT_EQ(updates_left(config, progress, 100), 10) << "of 100 tokens so far";
  config.max_target_tokens = 0;
  config.max_updates = 100;
  EXPECT_EQ(updates_left(config, progress, 100), 40);
  config.num_epochs = 0;
  EXPECT_EQ(updates_left(config, progress, 100), 40);
  config.max_updates = 0;
  EXPECT_EQ(updates_left(config, progress, 100), std::nullopt);
}

TEST(UpdatesLeft, AreManyWhereTheLimitIsHuge) {
  const TrainingConfig config{.num_epochs = std::numeric_limits<int64_t>::max()};
  ProgressState progress;
  progress.position = {.epoch = 1, .batch = 20};
  EXPECT_GT(updates_left(config, progress, 1000).value_or(0), int64_t{1} << 62);
}

}  // namespace
}  // namespace nmt::stopping_test
