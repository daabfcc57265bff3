#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"
#include "training/captured_log.h"
#include "training/checkpoints/checkpoint.h"
#include "training/checkpoints/progress_state.h"

namespace fs = std::filesystem;

namespace nmt::resumption_test {
namespace {

using testing::HasSubstr;

/// Checkpoints of updates 10 and 20; the later one as a test wants it.
class ResumptionTest : public testing::Test {
 protected:
  void save(int64_t update, const std::string& state) const {
    store_.save(update, 5, [&](const fs::path& folder) { write_file_atomically(folder / kProgressFile, state); });
  }
  static nlohmann::json state_of(int64_t update) {
    ProgressState progress;
    progress.update = update;
    return progress.to_json();
  }
  std::optional<int64_t> newest() { return store_.newest_whole(damage_of_checkpoint); }
  void SetUp() override { save(10, state_of(10).dump()); }

  test::TemporaryDirectory folder_;
  test::CapturedLog log_;
  CheckpointStore store_{folder_.path(), log_.log()};
};

TEST_F(ResumptionTest, GoesOnFromTheNewest) {
  save(20, state_of(20).dump());
  EXPECT_EQ(newest(), 20);
  EXPECT_EQ(log_.text(), "");
}

// Its checksum is right, yet nobody can read it: once this was taken for the work of another version.
TEST_F(ResumptionTest, FallsBackToTheCheckpointBeforeADamagedState) {
  auto wrong_type = state_of(20), missing = state_of(20);
  wrong_type["best_score"] = "none";
  missing.erase("position");
  for (const auto& state : {std::string("{\"update\": 2"), std::string("[]"), wrong_type.dump(), missing.dump()}) {
    save(20, state);
    EXPECT_EQ(newest(), 10) << state;
    EXPECT_THAT(log_.text(), HasSubstr("00000020: damaged (state.json: not readable)")) << state;
  }
}

// To resume from an older checkpoint would lose work that the other version can use.
TEST_F(ResumptionTest, NamesAnotherVersion) {
  save(20, R"({"format": 99, "what": "is not known yet"})");
  EXPECT_EQ(test::message_of<Error>([&] { newest(); }),
            (store_.path(20) / "state.json").string() +
                ": written by another version of this program (format 99, this one reads 2); continue with that "
                "version, or --restart to begin a new run");
  EXPECT_TRUE(fs::exists(store_.path(20)));
}

// What a new run would take here does not matter.
TEST_F(ResumptionTest, GoesOnInThePrecisionThatItWasBegunWith) {
  const Config automatic;
  for (const auto precision : {TrainingPrecision::kFp32, TrainingPrecision::kBf16}) {
    Config config;
    config.run.precision = precision;
    const auto begun = fresh_progress(config, torch::kCPU, "");
    save(20, begun.to_json().dump());
    const auto resumed =
        resumed_progress(store_.path(20), fresh_progress(automatic, torch::kCPU, ""), automatic, log_.log());
    EXPECT_EQ(resumed.precision, begun.precision);
    EXPECT_EQ(resumed.kernels, begun.kernels);
    EXPECT_EQ(log_.text(), "") << begun.precision;
  }
}

TEST_F(ResumptionTest, RefusesAnotherTeacher) {
  Config config;
  config.run.dir = "runs/a";
  config.training.teacher = folder_.path().string();
  const auto with_teacher = [&](const std::string& weights) {
    write_file_atomically(folder_ / "model.safetensors", weights);
    return fresh_progress(config, torch::kCPU, "");
  };
  save(20, with_teacher("one").to_json().dump());
  const auto resume = [&](const ProgressState& fresh) {
    return resumed_progress(store_.path(20), fresh, config, log_.log());
  };
  EXPECT_EQ(resume(with_teacher("one")).teacher_hash, sha256_of_bytes("one"));
  EXPECT_EQ(test::message_of<Error>([&] { resume(with_teacher("another")); }),
            "training.teacher " + config.training.teacher +
                ": its weights are not those that the run in runs/a was begun with; bring them back, or --restart to "
                "begin a new run");
}

}  // namespace
}  // namespace nmt::resumption_test
