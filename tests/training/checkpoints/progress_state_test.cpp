#include "training/checkpoints/progress_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nmt::progress_state_test {
namespace {

TEST(ProgressState, ComesBackFromJsonAsItWas) {
  ProgressState state;
  state.update = 7;
  state.position = {.epoch = 2, .batch = 30, .shard = 4, .shard_begin = 25, .stage = 3, .stage_begin = 1};
  state.target_tokens = 123456789012;
  state.epoch = {.epoch = 3, .loss = 1.0 / 3, .label_loss = 0.2, .target_tokens = 77};
  state.seconds = 0.1;
  state.validated_update = 6;
  state.best_score = -2.0 / 3;
  state.best_update = 5;
  state.validations_since_best = 4;
  state.averaged_update = 8;
  state.extra_checkpoint = 10;
  state.best_due_score = -0.75;
  state.extra_validation = 11;
  state.skipped_updates = 9;
  state.skipped_in_a_row = 1;
  state.events = {"a batch was split"};
  state.later_events = 12;
  state.best_validations = {{.update = 4, .score = -1.0 / 3}, {.update = 2, .score = -0.5}};
  state.plateau = {.factor = 0.49, .validations = 3};
  state.precision = "fp32", state.device = "cpu", state.kernels = "avx2", state.cpu = "a processor",
  state.torch_version = "2";
  state.data_hash = "ab", state.threads = 2, state.teacher_hash = "cd";
  const auto json = state.to_json();
  const auto again = ProgressState::from_json(nlohmann::json::parse(json.dump()));
  EXPECT_EQ(again.to_json(), json);
  EXPECT_EQ(again.position.batch, 30);
  EXPECT_EQ(again.position.shard, 4);
  EXPECT_EQ(again.position.shard_begin, 25);
  EXPECT_EQ(again.position.stage, 3);
  EXPECT_EQ(again.position.stage_begin, 1);
  EXPECT_EQ(again.best_score, state.best_score);
  EXPECT_EQ(again.teacher_hash, "cd");
  EXPECT_EQ(again.epoch.loss, state.epoch.loss);
  EXPECT_EQ(again.events, state.events);
  ASSERT_EQ(again.best_validations.size(), 2u);
  EXPECT_EQ(again.best_validations[1].score, -0.5);
  EXPECT_EQ(again.plateau.factor, 0.49);
  EXPECT_EQ(again.plateau.validations, 3);
  EXPECT_EQ(again.later_events, 12);
  EXPECT_EQ(again.extra_checkpoint, 10);
  EXPECT_EQ(again.best_due_score, -0.75);
  EXPECT_EQ(again.extra_validation, 11);
  EXPECT_EQ(json.size(), 28) << "a field that was added is in no checkpoint yet: extend this test";
}

TEST(ProgressState, KeepsWhatIsNotFinite) {
  using Limits = std::numeric_limits<double>;
  ProgressState state;
  state.best_score = Limits::quiet_NaN();
  state.epoch.loss = Limits::infinity();
  state.epoch.label_loss = -Limits::infinity();
  const auto again = ProgressState::from_json(nlohmann::json::parse(state.to_json().dump()));
  EXPECT_TRUE(std::isnan(again.best_score));
  EXPECT_EQ(again.epoch.loss, Limits::infinity());
  EXPECT_EQ(again.epoch.label_loss, -Limits::infinity());
}

// Version 0.2 had sums for the lines of a tutorial.
TEST(ProgressState, ReadsVersion02WithoutItsFurtherSums) {
  auto json = ProgressState().to_json();
  json["epoch"]["batch_losses"] = 5.5;
  json["epoch"]["updates"] = 6;
  EXPECT_EQ(ProgressState::from_json(json).to_json(), ProgressState().to_json());
}

TEST(ProgressState, ReadsAPositionOfVersionsWithoutStages) {
  auto json = ProgressState().to_json();
  json["position"].erase("stage");
  json["position"].erase("stage_begin");
  EXPECT_EQ(ProgressState::from_json(json).to_json(), ProgressState().to_json());
}

TEST(ProgressState, ReadsAStateOfVersionsWithoutTeachers) {
  auto json = ProgressState().to_json();
  json.erase("teacher_hash");
  EXPECT_EQ(ProgressState::from_json(json).to_json(), ProgressState().to_json());
}

TEST(ProgressState, RefusesWhatIsMissingOrOfAnotherType) {
  auto json = ProgressState().to_json();
  json.erase("position");
  EXPECT_THROW(ProgressState::from_json(json), nlohmann::json::exception);
  json = ProgressState().to_json();
  json["update"] = "seven";
  EXPECT_THROW(ProgressState::from_json(json), nlohmann::json::exception);
  json = ProgressState().to_json();
  json["best_score"] = "good";
  EXPECT_THROW(ProgressState::from_json(json), nlohmann::json::exception);
}

}  // namespace
}  // namespace nmt::progress_state_test
