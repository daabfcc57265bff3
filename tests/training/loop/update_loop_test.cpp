// A small model on made-up pairs; what it is asked in each forward pass, the clock, the signals and the validation are
// scripted.
#include "training/loop/update_loop.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <limits>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "config/loading/schema.h"
#include "data/preparation/prepared_corpus_writer.h"
#include "models/formula_weights.h"
#include "models/model_directory.h"
#include "support.h"
#include "training/captured_log.h"
#include "training/checkpoints/progress_state.h"
#include "training/distributed/thread_processes.h"
#include "training/limited_model.h"
#include "training/loop/objectives.h"
#include "training/optimizers/optimizer.h"

namespace fs = std::filesystem;

namespace nmt::update_loop_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::shared_ptr<const PreparedCorpus> eight_pairs(const fs::path& path) {
  PreparedCorpusWriter writer(path);
  for (int32_t i = 0; i < 8; ++i) {
    const std::vector<int32_t> source = {4 + i, 5 + i, 6 + i}, target = {12 + i, 13 + i};
    writer.add({.source = source, .target = target, .source_text = "x", .target_text = "y", .corpus = i / 4});
  }
  writer.finish();
  return std::make_shared<const PreparedCorpus>(path);
}

/// A process of a run: an epoch has four updates of two pairs.
class ScriptedRun final : TrainingObserver {
 public:
  ScriptedRun(const fs::path& folder, const std::string& options)
      : folder_(folder), store_(folder / "checkpoints", log.log()), corpus_(eight_pairs(folder / "train.bin")) {
    config_ = parse_config(
                  "{data: {train_tsv: [old.tsv, new.tsv], eval1: v.de, eval2: v.en}, training: {batch_size: 2, "
                  "optimizer: sgd, warmup_steps: 1, "
                  "lr: 0.01, " +
                      std::string(options.find("num_epochs") == options.npos ? "num_epochs: 0, " : "") + options + "}",
                  "test")
                  .config;
    restart();
  }

  /// Starts as a new process of the same run would: from the newest checkpoint.
  void restart() {
    model_ = std::make_shared<test::LimitedModel>(
        test::formula_model(test::model_config("d_model: 8, d_ff: 8, num_blocks: 1, num_heads: 2, dropout_rate: 0"), 24,
                            24),
        0, [this] {
          now += 1;  // of training an update
          if (in_forward) in_forward(progress.update + 1);
        });
    progress = {};
    if (const auto newest = store_.newest_whole(damage_of_checkpoint)) {
      const auto folder = store_.path(*newest);
      copy_into(named_parameters(*model_), load_safetensors(folder / "model.safetensors"), folder);
      progress = on_disk(*newest);
    }
    said.clear();
  }

  /// What a loop over the run's parts gives.
  template <typename Use>
  auto with_loop(ProcessGroup& group, const Use& use) {
    auto optimizer = make_optimizer(config_.training, named_parameters(*model_));
    const auto objective = make_objective(config_.training);
    BatchStream batches(corpus_, {.type = BatchType::kSentences, .size = 2, .stages = stages}, progress.position);
    const ModelWriter write_model = [this](const fs::path& folder, const nlohmann::json&) {
      if (disk_is_full && folder.string().find("best") != std::string::npos) throw MachineError("best: disk full");
      save_safetensors(folder / "model.safetensors", named_parameters(*model_));
    };
    const RunCheckpoints checkpoints({.store = store_,
                                      .write_model = write_model,
                                      .trainer_state = [&] { return optimizer->state(); },
                                      .keep = 2,
                                      .counts = config_.training.average_checkpoints > 0});
    BestModel best({.model = *model_,
                    .config = config_,
                    .measure =
                        [this] {
                          now += 100;
                          return ValidationReport{.loss = 1, .bleu = bleu ? bleu(progress.update) : 1};
                        },
                    .write_model = write_model,
                    .folder = folder_ / "best",
                    .checkpoints = store_,
                    .observer = *this,
                    .log = log.log()},
                   progress);
    const UpdateParts update{.model = *model_, .optimizer = *optimizer, .objective = *objective};
    UpdateLoop loop({.config = config_,
                     .update = update,
                     .schedule = make_schedule(config_.training, 8),
                     .batches = batches,
                     .validates = validates,
                     .saves_epochs = saves_epochs,
                     .best = group.leads() ? &best : nullptr,
                     .checkpoints = group.leads() ? &checkpoints : nullptr,
                     .group = group,
                     .observer = *this,
                     .log = log.log(),
                     .clock = [this] { return now; },
                     .stop_signal = [this] { return progress.update >= signal_at ? SIGTERM : 0; }},
                    progress);
    return use(loop);
  }
  int train(ProcessGroup& group) {
    return with_loop(group, [](UpdateLoop& loop) { return loop.run(); });
  }
  int train() {
    SingleProcess alone;
    return train(alone);
  }
  std::optional<EpochReport> epoch_end() {
    SingleProcess alone;
    return with_loop(alone, [](UpdateLoop& loop) { return loop.epoch_end(); });
  }

  ProgressState on_disk(int64_t update) const {
    return ProgressState::from_json(nlohmann::json::parse(read_file(store_.path(update) / kProgressFile)));
  }
  const CheckpointStore& store() const { return store_; }
  NamedTensors weights() const { return named_parameters(*model_); }

  bool validates = true, saves_epochs = false, disk_is_full = false;
  int64_t signal_at = std::numeric_limits<int64_t>::max();
  std::vector<BatchStage> stages;  // what batch_options() makes of those of the configuration
  std::function<double(int64_t)> bleu;
  std::function<void(int64_t)> in_forward;
  double now = 1000;
  std::vector<std::string> said;
  std::vector<TrainingInterval> intervals, curve_points;
  std::vector<EpochReport> epochs;
  test::CapturedLog log;
  ProgressState progress;

 private:
  void on_update(const UpdateReport& report) override {
    said.push_back(fmt::format("update {}.{}", report.epoch, report.update));
  }
  void on_interval(const TrainingInterval& interval) override {
    intervals.push_back(interval);
    said.push_back(fmt::format("interval {}", interval.update));
  }
  void on_curve_point(const TrainingInterval& interval) override { curve_points.push_back(interval); }
  void on_epoch(const EpochReport& report) override {
    epochs.push_back(report);
    said.push_back(fmt::format("epoch {}", report.epoch));
  }
  void on_validation(const ValidationReport& report) override {
    said.push_back(fmt::format("validation {}", report.update));
  }
  void on_checkpoint(int64_t update) override { said.push_back(fmt::format("checkpoint {}", update)); }
  void on_end(const std::string& reason) override { said.push_back(reason); }

  fs::path folder_;
  CheckpointStore store_;
  std::shared_ptr<const PreparedCorpus> corpus_;
  Config config_;
  std::shared_ptr<test::LimitedModel> model_;
};

void expect_equal_weights(const ScriptedRun& run, const ScriptedRun& other) {
  const auto weights = run.weights(), expected = other.weights();
  for (size_t i = 0; i < weights.size(); ++i)
    EXPECT_TRUE(weights[i].second.equal(expected[i].second)) << weights[i].first;
}

class UpdateLoopTest : public testing::Test {
 protected:
  test::TemporaryDirectory folder_;
};

TEST_F(UpdateLoopTest, DoesThingsInTheirOrder) {
  ScriptedRun run(folder_.path(), "max_updates: 5, checkpoint_every: 2}, validation: {every: 2}, run: {log_every: 3}");
  EXPECT_EQ(run.train(), 0);
  EXPECT_THAT(run.said, ElementsAre("update 1.1", "update 1.2", "validation 2", "checkpoint 2", "update 1.3",
                                    "interval 3", "update 1.4", "interval 4", "epoch 1", "validation 4", "checkpoint 4",
                                    "update 2.5", "interval 5", "validation 5", "checkpoint 5", "5 updates done"));
  EXPECT_THAT(run.store().updates(), ElementsAre(4, 5)) << "the last two";
}

// The weights that a run starts from are the first to be measured, and best/ until others are better.
TEST_F(UpdateLoopTest, ValidatesTheModelThatItStartsFrom) {
  const std::string options =
      "init_from: m, max_updates: 4, checkpoint_every: 4}, validation: {every: 2, patience: 2}, run: {log_every: 4}";
  const auto bleu = [](int64_t update) { return update == 0 ? 8 : 7; };
  ScriptedRun run(folder_.path(), options);
  run.bleu = bleu;
  run.disk_is_full = true;
  EXPECT_THROW(run.train(), MachineError) << "killed in the middle of the first validation";
  EXPECT_THAT(run.store().updates(), ElementsAre(0));
  run.disk_is_full = false;
  run.restart();
  run.in_forward = [](int64_t update) {
    if (update == 2) throw MachineError("out of memory");
  };
  EXPECT_THROW(run.train(), MachineError);
  EXPECT_THAT(run.said, ElementsAre("validation 0", "checkpoint 0", "update 1.1"));
  EXPECT_EQ(run.on_disk(0).validated_update, 0);
  EXPECT_EQ(run.on_disk(0).best_due_score, 8);
  run.in_forward = nullptr;
  run.restart();
  EXPECT_EQ(run.train(), 0);
  EXPECT_THAT(run.said, ElementsAre("update 1.1", "update 1.2", "validation 2", "update 1.3", "update 1.4",
                                    "interval 4", "epoch 1", "validation 4", "checkpoint 4", "4 updates done"));
  EXPECT_EQ(run.progress.best_update, 0);
  EXPECT_EQ(run.progress.validations_since_best, 2) << "patience counts from it";
}

TEST_F(UpdateLoopTest, MeasuresTheSpeedOfTrainingAlone) {
  ScriptedRun run(folder_.path(), "max_updates: 4, checkpoint_every: 2}, validation: {every: 1}, run: {log_every: 4}");
  run.train();
  ASSERT_EQ(run.intervals.size(), 1u);
  // Four updates of two targets of three tokens, a second each; 100 seconds of each validation do not count.
  EXPECT_DOUBLE_EQ(run.intervals[0].target_tokens_per_second, 24.0 / 4);
  EXPECT_EQ(run.on_disk(4).seconds, 4 * 101);
}

TEST_F(UpdateLoopTest, CheckpointsHoldWhatTheValidationFound) {
  ScriptedRun run(folder_.path(), "max_updates: 4, checkpoint_every: 2}, validation: {every: 2}, run: {log_every: 4}");
  run.bleu = [](int64_t update) { return update == 2 ? 7 : 6; };
  run.train();
  EXPECT_EQ(run.on_disk(2).validated_update, 2);
  EXPECT_EQ(run.on_disk(2).best_score, 7);
  EXPECT_EQ(run.on_disk(4).validations_since_best, 1);
  EXPECT_EQ(damage_of_checkpoint(run.store().path(4)), std::nullopt);
  run.restart();
  EXPECT_EQ(run.train(), 0);
  EXPECT_THAT(run.said, ElementsAre("4 updates done")) << "nothing is left to do";
}

// A full disk, no memory, damaged weights: once the work since the checkpoint before was lost.
TEST_F(UpdateLoopTest, SavesTheCheckpointThatIsDueBeforeAValidationCanFail) {
  ScriptedRun run(folder_.path(), "max_updates: 4, checkpoint_every: 2}, validation: {every: 2}, run: {log_every: 4}");
  run.disk_is_full = true;
  EXPECT_EQ(test::message_of<MachineError>([&] { run.train(); }), "best: disk full");
  ASSERT_THAT(run.store().updates(), ElementsAre(2));
  EXPECT_EQ(damage_of_checkpoint(run.store().path(2)), std::nullopt);
  EXPECT_EQ(run.on_disk(2).validated_update, -1);
  run.restart();
  run.disk_is_full = false;
  EXPECT_EQ(run.train(), 0);
  EXPECT_THAT(run.said, ElementsAre("validation 2", "update 1.3", "update 1.4", "interval 4", "epoch 1", "validation 4",
                                    "checkpoint 4", "4 updates done"));
  EXPECT_EQ(run.on_disk(2).validated_update, 2) << "it is added to the checkpoint that stood there";
}

// Else a run that is killed before its first checkpoint is due leaves a best/ with nothing to resume from.
TEST_F(UpdateLoopTest, TheFirstValidationHasACheckpoint) {
  const std::string options = "max_updates: 9, checkpoint_every: 6}, validation: {every: 2}, run: {log_every: 100}";
  ScriptedRun run(folder_.path(), options);
  run.disk_is_full = true;
  EXPECT_THROW(run.train(), MachineError);
  EXPECT_THAT(run.store().updates(), ElementsAre(2)) << "before best/ is written";
  run.disk_is_full = false;
  run.restart();
  EXPECT_EQ(run.train(), 0);
  fs::create_directories(folder_ / "whole");
  ScriptedRun whole(folder_ / "whole", options);
  EXPECT_EQ(whole.train(), 0);
  EXPECT_THAT(whole.said, testing::IsSupersetOf({"validation 2", "checkpoint 2", "validation 4", "checkpoint 6"}));
  EXPECT_THAT(whole.said, testing::Not(testing::Contains("checkpoint 4")));
  EXPECT_EQ(run.store().updates(), whole.store().updates());
}

TEST_F(UpdateLoopTest, StopsForASignalWithItsStateSaved) {
  ScriptedRun run(folder_.path(),
                  "max_updates: 9, checkpoint_every: 100}, validation: {every: 100}, run: {log_every: 100}");
  run.signal_at = 3;
  EXPECT_EQ(run.train(), SIGTERM);
  EXPECT_THAT(run.said, ElementsAre("update 1.1", "update 1.2", "update 1.3", "interval 3", "checkpoint 3",
                                    "stopped by a signal; the state is saved: the same command resumes"));
  run.signal_at = 100;
  run.restart();
  EXPECT_EQ(run.progress.update, 3);
  EXPECT_EQ(run.train(), 0);
  EXPECT_EQ(run.said.front(), "update 1.4");
}

// The last checkpoints are averaged at the end: those of stops would make best/ another one than that of an unbroken
// run.
TEST_F(UpdateLoopTest, AfterStopsTheCheckpointsAreThoseOfAnUnbrokenRun) {
  const std::string options =
      "sgd_momentum: 0, max_updates: 11, average_checkpoints: 2, checkpoint_every: 2}, validation: {every: 100}, run: "
      "{log_every: 100}";
  fs::create_directories(folder_ / "whole");
  ScriptedRun whole(folder_ / "whole", options), run(folder_.path(), options);
  EXPECT_EQ(whole.train(), 0);
  EXPECT_THAT(whole.store().updates(), ElementsAre(8, 10, 11));
  const auto stop_at = [&](int64_t update) {
    run.signal_at = update;
    EXPECT_EQ(run.train(), SIGTERM);
    run.signal_at = 100;
    run.restart();
    return run.store().updates();
  };
  EXPECT_THAT(stop_at(5), ElementsAre(2, 4, 5));
  EXPECT_THAT(stop_at(6), ElementsAre(4, 6)) << "one that is due";
  EXPECT_THAT(stop_at(7), ElementsAre(4, 6, 7));
  EXPECT_THAT(stop_at(9), ElementsAre(6, 8, 9));
  EXPECT_EQ(run.train(), 0);
  EXPECT_EQ(run.store().updates(), whole.store().updates());
}

// It validates once more where it ends: once the rates after that were others than those of an unbroken run.
TEST_F(UpdateLoopTest, AfterAnEarlierLimitTheLearningRatesAreThoseOfAnUnbrokenRun) {
  const std::string options =
      ", sgd_momentum: 0, schedule: plateau, plateau_patience: 2, plateau_factor: 0.5, average_best: 2, "
      "checkpoint_every: 0}, validation: {every: 4}, run: {log_every: 100}";
  fs::create_directories(folder_ / "whole");
  ScriptedRun whole(folder_ / "whole", "max_updates: 18" + options);
  const auto bleu = [](int64_t update) { return update == 10 ? 9 : update == 4 ? 5 : 1; };
  whole.bleu = bleu;
  EXPECT_EQ(whole.train(), 0);
  {
    ScriptedRun begun(folder_.path(), "max_updates: 10" + options);
    begun.bleu = bleu;
    EXPECT_EQ(begun.train(), 0);
    EXPECT_EQ(begun.on_disk(10).best_update, 10) << "kept all the same";
    EXPECT_EQ(begun.on_disk(10).best_validations.front().update, 10);
  }
  ScriptedRun run(folder_.path(), "max_updates: 18" + options);
  run.bleu = bleu;
  EXPECT_EQ(run.train(), 0);
  const auto found = run.on_disk(18), expected = whole.on_disk(18);
  EXPECT_LT(expected.plateau.factor, 1);
  EXPECT_EQ(found.plateau.factor, expected.plateau.factor);
  EXPECT_EQ(found.validations_since_best, expected.validations_since_best);
  EXPECT_EQ(found.best_validations.size(), expected.best_validations.size());
  for (size_t i = 0; i < expected.best_validations.size(); ++i)
    EXPECT_EQ(found.best_validations[i].update, expected.best_validations[i].update);
  expect_equal_weights(run, whole);
}

constexpr const char* kInStages =
    "stages: [{shares: {old: 1}, until_update: 3}, {shares: {new: 1}, until_stalled: 2}, {shares: {old: 1, new: 1}}], "
    "sgd_momentum: 0, max_updates: 12, checkpoint_every: 3}, validation: {every: 2}, run: {log_every: 100}";

/// The second stage stalls at update 8.
void run_in_stages(ScriptedRun& run) {
  run.stages = {{.corpus_weights = {1, 0}}, {.corpus_weights = {0, 1}}, {.corpus_weights = {1, 1}}};
  run.bleu = [](int64_t update) { return update <= 4 ? static_cast<double>(update) : 1; };
}

// An epoch has two updates in the first two stages.
TEST_F(UpdateLoopTest, StagesEndAtAnUpdateOrWhenValidationsStall) {
  ScriptedRun run(folder_.path(), kInStages);
  run_in_stages(run);
  EXPECT_EQ(run.train(), 0);
  std::vector<std::string> updates;
  for (const auto& said : run.said)
    if (said.starts_with("update") || said.starts_with("epoch")) updates.push_back(said);
  EXPECT_THAT(updates, ElementsAre("update 1.1", "update 1.2", "epoch 1", "update 2.3", "epoch 2", "update 3.4",
                                   "update 3.5", "epoch 3", "update 4.6", "update 4.7", "epoch 4", "update 5.8",
                                   "update 6.9", "update 6.10", "update 6.11", "update 6.12", "epoch 6"));
  EXPECT_EQ(run.progress.position.stage, 2);
  EXPECT_EQ(run.progress.position.stage_begin, 5);
  EXPECT_EQ(run.progress.validations_since_best, 2) << "of the last stage";
  EXPECT_THAT(run.log.text(), HasSubstr("stage 1 of 3, from epoch 1 on: old 1, until_update 3"));
  EXPECT_THAT(run.log.text(), HasSubstr("update 3: stage 2 of 3, from epoch 3 on: new 1, until_stalled 2"));
  EXPECT_THAT(run.log.text(), HasSubstr("update 8: stage 3 of 3, from epoch 6 on: old 1, new 1"));
}

// Else the second stage would end before its first update.
TEST_F(UpdateLoopTest, AValidationWhereAStageBeginsCountsForNone) {
  ScriptedRun run(folder_.path(),
                  "stages: [{shares: {old: 1}, until_epochs: 2}, {shares: {new: 1}, until_stalled: 1}, {shares: {old: "
                  "1}}], max_updates: 8, checkpoint_every: 100}, validation: {every: 2}, run: {log_every: 100}");
  run.stages = {{.corpus_weights = {1, 0}, .epochs = 2}, {.corpus_weights = {0, 1}}, {.corpus_weights = {1, 0}}};
  run.bleu = [](int64_t update) { return update == 2 ? 5 : 1; };
  EXPECT_EQ(run.train(), 0);
  EXPECT_THAT(run.log.text(), HasSubstr("update 4: stage 2 of 3, from epoch 3 on: new 1, until_stalled 1"));
  EXPECT_THAT(run.log.text(), HasSubstr("update 6: stage 3 of 3, from epoch 4 on: old 1"));
}

TEST_F(UpdateLoopTest, ResumesThroughStagesToTheSameBits) {
  fs::create_directories(folder_ / "whole");
  ScriptedRun whole(folder_ / "whole", kInStages);
  run_in_stages(whole);
  EXPECT_EQ(whole.train(), 0);
  for (int64_t stop = 1; stop < 12; ++stop) {
    const auto own = folder_ / std::to_string(stop);
    fs::create_directories(own);
    ScriptedRun run(own, kInStages);
    run_in_stages(run);
    run.signal_at = stop;
    EXPECT_EQ(run.train(), SIGTERM);
    run.signal_at = 100;
    run.restart();
    EXPECT_EQ(run.train(), 0);
    EXPECT_EQ(run.progress.position.stage_begin, whole.progress.position.stage_begin) << stop;
    EXPECT_EQ(run.progress.position.epoch, whole.progress.position.epoch) << stop;
    EXPECT_EQ(run.progress.validations_since_best, whole.progress.validations_since_best) << stop;
    EXPECT_EQ(run.progress.target_tokens, whole.progress.target_tokens) << stop;
    expect_equal_weights(run, whole);
  }
}

TEST_F(UpdateLoopTest, TheLastUpdateOfTheLastEpochTakesWhatIsLeft) {
  ScriptedRun run(folder_.path(), "accumulate: 3, num_epochs: 1, checkpoint_every: 100}, validation: {every: 100}");
  EXPECT_EQ(run.train(), 0);
  EXPECT_EQ(run.said.back(), "1 epochs done");
  EXPECT_EQ(run.progress.update, 2) << "of three batches and of one";
  EXPECT_EQ(run.progress.position.epoch, 1);
  EXPECT_EQ(run.progress.position.batch, 0);
}

TEST_F(UpdateLoopTest, AnUpdateOfSeveralEpochsIsValidatedAfterAStop) {
  ScriptedRun run(folder_.path(), "accumulate: 10, max_updates: 2, checkpoint_every: 1}, validation: {every: 0}");
  run.disk_is_full = true;  // ends the run in the validation
  EXPECT_THROW(run.train(), MachineError);
  run.disk_is_full = false;
  run.restart();
  EXPECT_EQ(run.train(), 0);
  EXPECT_EQ(run.said.front(), "validation 1");
}

TEST_F(UpdateLoopTest, TheTimeLeftIsThatOfTheNearestLimit) {
  ScriptedRun run(folder_.path(),
                  "max_updates: 60, max_minutes: 0.1, checkpoint_every: 100}, validation: {every: 100}, run: "
                  "{log_every: 1}");
  run.train();
  ASSERT_GE(run.intervals.size(), 2u);
  EXPECT_DOUBLE_EQ(run.intervals[0].seconds_left, 5) << "of the six seconds, not of the 59 updates";
  EXPECT_DOUBLE_EQ(run.intervals[1].seconds_left, 4);
}

// An update may have a million micro-batches: once the signal was followed after the last of them.
TEST_F(UpdateLoopTest, GivesUpAnUpdateForASignalAndDoesItAgain) {
  const std::string options =
      "accumulate: 6, sgd_momentum: 0, max_updates: 4, checkpoint_every: 100}, validation: {every: 100}, run: "
      "{log_every: 100}";
  fs::create_directories(folder_ / "whole");
  ScriptedRun whole(folder_ / "whole", options), run(folder_.path(), options);
  EXPECT_EQ(whole.train(), 0);
  int calls = 0;
  run.in_forward = [&](int64_t update) {
    calls += update == 3;
    if (calls == 2) run.signal_at = 2;
  };
  EXPECT_EQ(run.train(), SIGTERM);
  EXPECT_EQ(calls, 2) << "batches of update 3";
  EXPECT_EQ(run.progress.update, 2);
  EXPECT_EQ(run.said[run.said.size() - 2], "checkpoint 2");
  run.signal_at = 100;
  run.in_forward = nullptr;
  run.restart();
  EXPECT_EQ(run.train(), 0);
  EXPECT_EQ(run.on_disk(4).position.batch, whole.on_disk(4).position.batch);
  EXPECT_EQ(run.on_disk(4).target_tokens, whole.on_disk(4).target_tokens);
  expect_equal_weights(run, whole);
}

TEST_F(UpdateLoopTest, SavesNothingWhereNoUpdateIsDone) {
  ScriptedRun run(folder_.path(), "accumulate: 6, max_updates: 4, checkpoint_every: 100}, validation: {every: 100}");
  run.signal_at = 0;
  EXPECT_EQ(run.train(), SIGTERM);
  EXPECT_THAT(run.said,
              ElementsAre("stopped by a signal before the first update was done: the same command begins again"));
  EXPECT_THAT(run.store().updates(), ElementsAre());
}

// The epoch that a rate depends on is that of the data, also where a run resumes in the middle of one.
TEST_F(UpdateLoopTest, HalvesTheRateByEpochsAcrossARestart) {
  const std::string options =
      "schedule: halving, halving_start: 1, halving_every: 0.5, sgd_momentum: 0, max_updates: 10, checkpoint_every: "
      "100}, validation: {every: 100}, run: {log_every: 1}";
  fs::create_directories(folder_ / "whole");
  ScriptedRun whole(folder_ / "whole", options), run(folder_.path(), options);
  EXPECT_EQ(whole.train(), 0);
  run.signal_at = 6;
  EXPECT_EQ(run.train(), SIGTERM);
  run.signal_at = 100;
  run.restart();
  EXPECT_EQ(run.train(), 0);
  for (const auto* found : {&whole, &run}) {
    std::vector<double> rates;
    for (const auto& interval : found->intervals) rates.push_back(interval.learning_rate);
    EXPECT_THAT(rates, ElementsAre(0.01, 0.01, 0.01, 0.01, 0.005, 0.005, 0.0025, 0.0025, 0.00125, 0.00125));
  }
  expect_equal_weights(run, whole);
}

TEST_F(UpdateLoopTest, DoesAValidationAgainThatASignalCutShort) {
  ScriptedRun run(folder_.path(),
                  "max_updates: 2, checkpoint_every: 2}, validation: {every: 2}, run: {log_every: 100}");
  run.bleu = [&](int64_t) -> double {
    run.signal_at = 2;
    throw Interrupted();
  };
  EXPECT_EQ(run.train(), SIGTERM);
  EXPECT_THAT(run.said, testing::Contains("checkpoint 2"));
  EXPECT_EQ(run.on_disk(2).validated_update, -1);
  run.bleu = nullptr;
  run.signal_at = 100;
  run.restart();
  EXPECT_EQ(run.train(), 0);
  EXPECT_THAT(run.said, ElementsAre("validation 2", "2 updates done"));
}

TEST_F(UpdateLoopTest, EndsWhenPatienceIsOverWhateverTheScore) {
  ScriptedRun run(folder_.path(),
                  "max_updates: 9, checkpoint_every: 2}, validation: {every: 1, patience: 3}, run: {log_every: 100}");
  run.bleu = [](int64_t update) { return update == 1 ? 5 : kNan; };
  EXPECT_EQ(run.train(), 0);
  EXPECT_EQ(run.said.back(), "3 validations without a new best bleu");
  EXPECT_EQ(run.progress.update, 4);
  EXPECT_EQ(run.progress.best_update, 1);
}

// Such as an older version left it.
TEST_F(UpdateLoopTest, GoesOnFromACheckpointWithABestScoreThatIsNotFinite) {
  ScriptedRun run(folder_.path(),
                  "max_updates: 9, checkpoint_every: 2}, validation: {every: 2}, run: {log_every: 100}");
  run.progress.best_update = 1;
  run.progress.best_score = kNan;
  run.bleu = [](int64_t update) { return update == 2 ? kNan : 3; };
  run.signal_at = 3;
  run.train();
  run.signal_at = 100;
  run.restart();
  ASSERT_EQ(run.progress.update, 3);
  EXPECT_TRUE(std::isnan(run.progress.best_score));
  EXPECT_EQ(run.train(), 0);
  EXPECT_EQ(run.progress.best_update, 4);
}

TEST_F(UpdateLoopTest, CountsWhatItSkipsAndGivesUpInTheEnd) {
  ScriptedRun run(folder_.path(),
                  "max_updates: 90, checkpoint_every: 100}, validation: {every: 100}, run: {log_every: 100}");
  run.in_forward = [&](int64_t update) {
    const torch::NoGradGuard no_grad;
    for (auto& item : run.weights()) item.second.fill_(update == 3 || update > 5 ? kNan : 0.1);
  };
  EXPECT_THAT(test::message_of<Error>([&] { run.train(); }), HasSubstr("10 updates in a row were not finite"));
  EXPECT_EQ(run.progress.update, 15);
  EXPECT_EQ(run.progress.skipped_updates, 11);
}

TEST_F(UpdateLoopTest, NotesABatchThatWasSplit) {
  ScriptedRun run(folder_.path(),
                  "max_updates: 2, checkpoint_every: 2}, validation: {every: 2}, run: {log_every: 100}");
  bool first = true;
  run.in_forward = [&](int64_t update) {
    if (update == 2 && std::exchange(first, false)) throw std::bad_alloc();
  };
  run.train();
  EXPECT_THAT(run.on_disk(2).events, ElementsAre("update 2: a batch was split for lack of memory"));
}

TEST_F(UpdateLoopTest, WithoutAValidationSetSavesAtEpochsAndTakesTheLastWeights) {
  ScriptedRun run(folder_.path(), "max_updates: 5, checkpoint_every: 0}, run: {log_every: 100}");
  run.validates = false;
  run.train();
  EXPECT_THAT(run.said, ElementsAre("update 1.1", "update 1.2", "update 1.3", "update 1.4", "interval 4", "epoch 1",
                                    "checkpoint 4", "update 2.5", "interval 5", "checkpoint 5", "5 updates done"));
  EXPECT_TRUE(fs::exists(folder_ / "best" / "model.safetensors"));
}

TEST_F(UpdateLoopTest, SavesEpochsWhereAnObserverNeedsThem) {
  ScriptedRun run(folder_.path(),
                  "max_updates: 5, checkpoint_every: 100}, validation: {every: 100}, run: {log_every: 100}");
  run.saves_epochs = true;
  run.train();
  EXPECT_THAT(run.said, IsSupersetOf({"checkpoint 4", "checkpoint 5"}));
  EXPECT_EQ(run.on_disk(4).extra_checkpoint, -1) << "it was due";
}

TEST_F(UpdateLoopTest, KnowsTheEndOfAnEpochWhenItResumes) {
  ScriptedRun run(folder_.path(), "max_updates: 4, checkpoint_every: 4}, validation: {every: 0}");
  run.train();
  ASSERT_EQ(run.epochs.size(), 1u);
  run.restart();
  const auto end = run.epoch_end();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->update, 4);
  EXPECT_EQ(end->loss, run.epochs[0].loss);
}

TEST_F(UpdateLoopTest, HasCurvePointsOfTheirOwn) {
  ScriptedRun run(folder_.path(),
                  "schedule: halving, halving_start: 1, sgd_momentum: 0, max_updates: 5, checkpoint_every: 100}, "
                  "validation: {every: 100}, run: {log_every: 3, tensorboard_every: 1}");
  run.train();
  ASSERT_EQ(run.curve_points.size(), 5u);
  for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(run.curve_points[i].update, i + 1);
  EXPECT_EQ(run.curve_points[3].learning_rate, 0.01);
  EXPECT_EQ(run.curve_points[4].learning_rate, 0.005) << "of its own update";
  EXPECT_EQ(run.curve_points[4].epoch, 2);
  const auto& points = run.curve_points;
  EXPECT_NEAR(run.intervals[0].loss, (points[0].loss + points[1].loss + points[2].loss) / 3, 1e-12);
  EXPECT_DOUBLE_EQ(points[1].target_tokens_per_second, 6) << "two targets of three tokens in a second";
  fs::create_directories(folder_ / "none");
  ScriptedRun none(folder_ / "none", "max_updates: 2, checkpoint_every: 100}, validation: {every: 100}");
  none.train();
  EXPECT_TRUE(none.curve_points.empty());
}

// The progress goes over the processes as JSON, which has no number for NaN.
TEST_F(UpdateLoopTest, OfSeveralProcessesShareAScoreThatIsNotFinite) {
  test::ThreadProcesses processes(2);
  std::vector<ProgressState> found(2);
  processes.run([&](ProcessGroup& group) {
    const auto own = folder_ / std::to_string(group.rank());
    fs::create_directories(own);
    ScriptedRun run(own, "max_updates: 3, checkpoint_every: 2}, validation: {every: 1}, run: {log_every: 100}");
    run.bleu = [](int64_t update) { return update == 2 ? 4 : kNan; };
    run.progress.best_score = kNan;
    EXPECT_EQ(run.train(group), 0);
    EXPECT_EQ(run.store().updates().empty(), !group.leads()) << "one writes";
    found[group.rank()] = run.progress;
  });
  for (const auto& progress : found) {
    EXPECT_EQ(progress.validated_update, 3);
    EXPECT_EQ(progress.best_update, 2);
    EXPECT_EQ(progress.best_score, 4);
  }
}

}  // namespace
}  // namespace nmt::update_loop_test
