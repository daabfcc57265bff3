#include "training/loop/best_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "models/formula_weights.h"
#include "models/model_directory.h"
#include "support.h"
#include "tensor_support.h"
#include "training/captured_log.h"
#include "training/loop/update_loop.h"

namespace fs = std::filesystem;

namespace nmt::best_model_test {
namespace {

using testing::ElementsAre;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

struct Observed final : TrainingObserver {
  std::vector<ValidationReport> validations;
  void on_validation(const ValidationReport& report) override { validations.push_back(report); }
};

/// A model whose every weight has one value, and a validation set on which that value scores what the test says.
class BestModelTest : public testing::Test {
 protected:
  BestModelTest() {
    config_.validation.best_metric = ValidationMetric::kBleu;
    config_.training.average_best = 2;
    set_weights(0);
  }

  NamedTensors weights() const { return named_parameters(*model_); }
  void set_weights(double value) {
    const torch::NoGradGuard no_grad;
    for (auto& item : weights()) item.second.fill_(value);
  }
  double weight() const { return weights().front().second.flatten()[0].item<double>(); }

  BestModel keeper(const MovingAverage* average = nullptr) {
    return BestModel({.model = *model_,
                      .config = config_,
                      .measure = [this] { return measured(); },
                      .write_model =
                          [this](const fs::path& folder, const nlohmann::json& summary) {
                            save_safetensors(folder / "model.safetensors", weights());
                            write_file_atomically(folder / "summary", summary.dump());
                          },
                      .folder = folder_ / "best",
                      .checkpoints = checkpoints_,
                      .average = average,
                      .observer = observed_,
                      .log = log_.log()},
                     progress_);
  }
  ValidationReport measured() {
    EXPECT_FALSE(model_->is_training());
    if (fails_) throw MachineError("no memory");
    ValidationReport report{.loss = loss_, .has_bleu = true, .bleu = score_(weight()), .bleu_line = "BLEU"};
    for (const double bleu : more_) report.others.push_back({.bleu = bleu});
    return report;
  }
  /// The validation of the weights `value` at an update.
  bool validate(BestModel& keeper, int64_t update, double value, bool due = true) {
    progress_.update = update;
    set_weights(value);
    model_->train();
    const bool new_best = keeper.validate(3, due);
    EXPECT_TRUE(model_->is_training());
    EXPECT_EQ(weight(), value) << "the model keeps its weights";
    return new_best;
  }
  double best_weight() const {
    return load_safetensors(folder_ / "best" / "model.safetensors").tensors.begin()->second.flatten()[0].item<double>();
  }
  nlohmann::json best_summary() const { return nlohmann::json::parse(read_file(folder_ / "best" / "summary")); }
  std::vector<int64_t> listed() const {
    std::vector<int64_t> updates;
    for (const auto& validation : progress_.best_validations) updates.push_back(validation.update);
    return updates;
  }
  void save_checkpoint(int64_t update, double value) {
    set_weights(value);
    checkpoints_.save(update, 10,
                      [this](const fs::path& folder) { save_safetensors(folder / "model.safetensors", weights()); });
  }

  test::TemporaryDirectory folder_;
  test::CapturedLog log_;
  Config config_;
  std::shared_ptr<TranslationModel> model_ =
      test::formula_model(test::model_config("d_model: 4, d_ff: 4, num_blocks: 1, num_heads: 1"), 6, 6);
  std::function<double(double)> score_ = [](double value) { return value; };
  double loss_ = 1;
  std::vector<double> more_;  // BLEU of further sets
  bool fails_ = false;
  CheckpointStore checkpoints_{folder_ / "checkpoints", log_.log()};
  Observed observed_;
  ProgressState progress_;
};

TEST_F(BestModelTest, KeepsTheBestAndCountsSince) {
  auto keeper = this->keeper();
  EXPECT_TRUE(validate(keeper, 10, 5));
  EXPECT_TRUE(validate(keeper, 20, 7));
  EXPECT_FALSE(validate(keeper, 30, 6));
  EXPECT_FALSE(validate(keeper, 40, 7)) << "as good is not better";
  EXPECT_EQ(best_weight(), 7);
  EXPECT_EQ(best_summary()["update"], 20);
  EXPECT_EQ(best_summary()["weights"], "update 20");
  EXPECT_EQ(best_summary()["validation"]["bleu"], "BLEU");
  EXPECT_EQ(damage_of(folder_ / "best"), std::nullopt);
  EXPECT_EQ(progress_.best_update, 20);
  EXPECT_EQ(progress_.best_score, 7);
  EXPECT_EQ(progress_.validated_update, 40);
  EXPECT_EQ(progress_.validations_since_best, 2);
  EXPECT_THAT(listed(), ElementsAre(20, 40)) << "the earlier one first where they tie";
  std::vector<bool> best;
  for (const auto& report : observed_.validations) best.push_back(report.is_best);
  EXPECT_THAT(best, ElementsAre(true, true, false, false));
  EXPECT_EQ(observed_.validations[2].update, 30);
  EXPECT_EQ(observed_.validations[2].epoch, 3);
  EXPECT_TRUE(validate(keeper, 50, 8));
  EXPECT_EQ(progress_.validations_since_best, 0);
}

TEST_F(BestModelTest, ComparesWhatTheUserNames) {
  const ValidationReport report{.loss = 2, .bleu = 30, .chrf = 50};
  EXPECT_EQ(validation_score(report, ValidationMetric::kLoss), -2);
  EXPECT_EQ(validation_score(report, ValidationMetric::kBleu), 30);
  EXPECT_EQ(validation_score(report, ValidationMetric::kChrf), 50);
}

TEST_F(BestModelTest, ComparesTheMeanOfSeveralSets) {
  const ValidationReport report{.loss = 2, .bleu = 30, .others = {{.loss = 3, .bleu = 10}, {.loss = 4, .bleu = 5}}};
  const auto score_by = [&](BestOf best_of) { return validation_score(report, {.best_of = best_of}); };
  EXPECT_EQ(score_by(BestOf::kFirst), 30);
  EXPECT_EQ(score_by(BestOf::kMean), 15);
  EXPECT_EQ(validation_score(report, {.best_metric = ValidationMetric::kLoss, .best_of = BestOf::kMean}), -3);
  const ValidationReport zero{.loss = 2, .bleu = 0, .others = {{.loss = 8, .bleu = 6}}};
  EXPECT_EQ(validation_score(zero, {.best_of = BestOf::kMean}), 3) << "the loss decides where all are 0";
  config_.validation.best_of = BestOf::kMean;
  auto keeper = this->keeper();
  more_ = {9};
  EXPECT_TRUE(validate(keeper, 10, 5));
  more_ = {3};
  EXPECT_FALSE(validate(keeper, 20, 7)) << "5 on average, after 7";
  EXPECT_EQ(best_weight(), 5);
}

TEST_F(BestModelTest, MakesARemovedOneAtTheNextValidation) {
  auto keeper = this->keeper();
  validate(keeper, 10, 7);
  fs::remove_all(folder_ / "best");
  EXPECT_FALSE(validate(keeper, 20, 5)) << "patience knows of the one that is gone";
  EXPECT_EQ(best_weight(), 5);
  EXPECT_TRUE(observed_.validations.back().is_best);
  EXPECT_EQ(progress_.validations_since_best, 1);
}

// A run that an older version has begun.
TEST_F(BestModelTest, TakesAZeroOfAnOlderVersionForNoScore) {
  progress_.best_update = 5, progress_.best_score = progress_.best_due_score = 0;
  auto keeper = this->keeper();
  score_ = [](double) { return 0; };
  EXPECT_TRUE(validate(keeper, 10, 3));
  EXPECT_EQ(progress_.best_score, -1) << "its loss";
}

// A removed one lowers nothing before another is made.
TEST_F(BestModelTest, LeavesOneThatIsBroughtBack) {
  auto keeper = this->keeper();
  validate(keeper, 10, 7);
  fs::rename(folder_ / "best", folder_ / "elsewhere");
  progress_ = ProgressState::from_json(progress_.to_json());
  fs::rename(folder_ / "elsewhere", folder_ / "best");
  validate(keeper, 20, 5);
  EXPECT_EQ(best_weight(), 7);
}

// The same as at the beginning of a training: the first of such models stood for the best, and patience ran out.
TEST_F(BestModelTest, GoesByTheLossWhereNoWordIsRight) {
  auto keeper = this->keeper();
  score_ = [](double) { return 0; };
  for (const double loss : {9, 8}) {
    loss_ = loss;
    EXPECT_TRUE(validate(keeper, static_cast<int64_t>(100 - loss), loss));
  }
  loss_ = 8.5;
  EXPECT_FALSE(validate(keeper, 95, 3));
  EXPECT_EQ(best_weight(), 8);
  loss_ = 20;
  score_ = [](double) { return 0.01; };
  EXPECT_TRUE(validate(keeper, 96, 4)) << "any word is better than none";
  EXPECT_EQ(best_weight(), 4);
  const ValidationReport none{.loss = 2, .bleu = 0, .chrf = 0};
  EXPECT_EQ(validation_score(none, ValidationMetric::kChrf), -2);
}

// Nothing is better than NaN: once it was the best for ever.
TEST_F(BestModelTest, NeverTakesAScoreThatIsNotFinite) {
  auto keeper = this->keeper();
  std::vector<double> scores = {kNan, kInfinity, 4, kNan, -kInfinity, 5};
  score_ = [&](double value) { return scores[static_cast<size_t>(value)]; };
  EXPECT_FALSE(validate(keeper, 10, 0));
  EXPECT_FALSE(validate(keeper, 20, 1));
  EXPECT_FALSE(fs::exists(folder_ / "best"));
  EXPECT_EQ(progress_.best_update, -1);
  EXPECT_EQ(progress_.validations_since_best, 2) << "patience counts them";
  EXPECT_TRUE(validate(keeper, 30, 2));
  EXPECT_FALSE(validate(keeper, 40, 3));
  EXPECT_FALSE(validate(keeper, 50, 4));
  EXPECT_TRUE(validate(keeper, 60, 5));
  EXPECT_EQ(best_weight(), 5);
  EXPECT_THAT(listed(), ElementsAre(60, 30));
  EXPECT_THAT(log_.text(), testing::StartsWith(
                               "warning: validation at update 10: bleu is not finite: these weights are not kept\n"));
}

TEST_F(BestModelTest, IsNotHeldByABestScoreOfAnOlderVersion) {
  progress_.best_update = 5;
  progress_.best_score = kNan;
  auto keeper = this->keeper();
  EXPECT_TRUE(validate(keeper, 10, 3));
  EXPECT_EQ(progress_.best_update, 10);
}

TEST_F(BestModelTest, MeasuresTheMovingAverage) {
  set_weights(0);
  MovingAverage average(weights(), 0.5);
  set_weights(8);
  average.follow(100);  // half of it
  auto keeper = this->keeper(&average);
  score_ = [](double value) { return value == 4 ? 20 : 10; };
  EXPECT_TRUE(validate(keeper, 100, 8));
  EXPECT_EQ(best_weight(), 4);
  EXPECT_EQ(best_summary()["weights"], "moving average");
  ASSERT_EQ(observed_.validations.size(), 2u);
  EXPECT_EQ(observed_.validations[0].weights, "");
  EXPECT_EQ(observed_.validations[1].weights, "moving average");
  EXPECT_EQ(progress_.best_score, 20);
  EXPECT_EQ(progress_.best_validations.front().score, 10) << "checkpoints hold the weights themselves";
}

TEST_F(BestModelTest, LeavesNoTraceOfAValidationThatFails) {
  auto keeper = this->keeper();
  validate(keeper, 10, 5);
  const auto before = progress_.to_json();
  progress_.update = 20;
  set_weights(9);
  fails_ = true;
  EXPECT_THROW(keeper.validate(3, true), MachineError);
  progress_.update = 10;
  EXPECT_EQ(progress_.to_json(), before);
  EXPECT_EQ(best_weight(), 5);
  EXPECT_EQ(observed_.validations.size(), 1u);
}

TEST_F(BestModelTest, TriesTheAveragesOfCheckpointsOnce) {
  config_.training.average_checkpoints = 2;
  for (const int64_t update : {10, 20, 30, 40}) save_checkpoint(update, static_cast<double>(update) / 10);
  progress_.best_validations = {{.update = 10, .score = 9}, {.update = 30, .score = 8}, {.update = 5, .score = 7}};
  progress_.best_score = 9, progress_.best_update = 10, progress_.update = 40;
  // The last two give 3.5, the best that stand 2.
  score_ = [](double value) { return value == 2 ? 11 : value == 3.5 ? 10 : 0; };
  auto keeper = this->keeper();
  set_weights(4);
  EXPECT_TRUE(keeper.try_averages(3));
  EXPECT_EQ(weight(), 4);
  EXPECT_EQ(best_weight(), 2);
  EXPECT_EQ(best_summary()["weights"], "average of updates 10, 30");
  EXPECT_EQ(observed_.validations.size(), 2u);
  EXPECT_EQ(progress_.averaged_update, 40);
  EXPECT_FALSE(keeper.try_averages(3)) << "done";
  config_.training.average_checkpoints = config_.training.average_best = 1;
  progress_.averaged_update = -1;
  EXPECT_FALSE(keeper.try_averages(3)) << "not asked for";
}

// Where a run ends at a limit: it may resume as if it had not.
TEST_F(BestModelTest, WhatWasNotDueIsKeptButNotCounted) {
  config_.training.average_best = 2;
  auto keeper = this->keeper();
  validate(keeper, 10, 5);
  validate(keeper, 20, 4);
  EXPECT_FALSE(validate(keeper, 25, 7, false));
  EXPECT_EQ(best_weight(), 7);
  EXPECT_EQ(progress_.validations_since_best, 1);
  EXPECT_THAT(listed(), ElementsAre(25, 10, 20)) << "it pushes none out";
  forget_extra_validation(progress_);
  EXPECT_THAT(listed(), ElementsAre(10, 20));
  EXPECT_TRUE(validate(keeper, 30, 6)) << "better than those that were due";
  EXPECT_EQ(progress_.validations_since_best, 0);
  EXPECT_EQ(best_weight(), 7);
}

// Once the second one found that the first one, measured before a stop, was as good as itself.
TEST_F(BestModelTest, RecordsNoAverageBeforeAllAreMeasured) {
  config_.training.average_checkpoints = config_.training.average_best = 2;
  for (const int64_t update : {10, 20, 30, 40}) save_checkpoint(update, static_cast<double>(update) / 10);
  progress_.best_validations = {{.update = 10, .score = 9}, {.update = 30, .score = 8}};
  progress_.update = 40;
  int measured = 0;
  score_ = [&](double value) {
    if (++measured == 2) throw MachineError("stopped");
    return value;
  };
  auto keeper = this->keeper();
  EXPECT_THROW(keeper.try_averages(3), MachineError);
  EXPECT_TRUE(observed_.validations.empty());
  EXPECT_TRUE(keeper.try_averages(3));
  ASSERT_EQ(observed_.validations.size(), 2u);
  EXPECT_EQ(best_weight(), 3.5);
}

TEST_F(BestModelTest, LeavesDamagedCheckpointsOutOfTheAverages) {
  config_.training.average_checkpoints = 3;
  for (const int64_t update : {10, 20, 30}) save_checkpoint(update, static_cast<double>(update) / 10);
  write_file_atomically(checkpoints_.path(20) / "model.safetensors", "other bytes");
  progress_.update = 30;
  auto keeper = this->keeper();
  EXPECT_TRUE(keeper.try_averages(3));
  EXPECT_EQ(best_weight(), 2);
  EXPECT_EQ(best_summary()["weights"], "average of updates 10, 30");
  EXPECT_THAT(log_.text(),
              testing::HasSubstr("00000020: damaged (model.safetensors: checksum differs): it is left out"));
}

TEST_F(BestModelTest, WarnsWhereThereIsNothingToAverage) {
  config_.training.average_checkpoints = 2;
  save_checkpoint(10, 1);
  EXPECT_FALSE(keeper().try_averages(3));
  EXPECT_THAT(log_.text(), testing::HasSubstr("fewer than two checkpoints"));
}

TEST_F(BestModelTest, TakesTheLastWeightsWithoutValidation) {
  progress_.update = 7;
  set_weights(3);
  keeper().save_last();
  EXPECT_EQ(best_weight(), 3);
  EXPECT_EQ(best_summary()["weights"], "update 7");
  EXPECT_FALSE(best_summary().contains("validation")) << "no loss of 0";
}

}  // namespace
}  // namespace nmt::best_model_test
