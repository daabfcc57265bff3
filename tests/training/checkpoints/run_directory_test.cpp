#include "training/checkpoints/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files/file.h"
#include "config/difference.h"
#include "config/loading/schema.h"
#include "support.h"
#include "training/captured_log.h"

namespace fs = std::filesystem;

namespace nmt::run_directory_test {
namespace {

using test::CapturedLog;
using test::message_of;
using test::TemporaryDirectory;
using Start = RunDirectory::Start;

class RunDirectoryTest : public testing::Test {
 protected:
  Config config(const std::vector<std::string>& settings = {}) const {
    auto all = settings;
    all.insert(all.begin(), {"run.dir=" + path_.string(), "data.eval1=v.de", "data.eval2=v.en"});
    return parse_config("data: {eval1: valid.de, eval2: valid.en}", "test", all).config;
  }
  void open(const Config& config, Start start = Start::kResume) { RunDirectory(config, start, captured_.log()); }
  /// A run that has a checkpoint.
  void begin(const Config& config) {
    open(config);
    fs::create_directory(path_ / "checkpoints" / "00000100");
  }

  TemporaryDirectory folder_;
  fs::path path_ = folder_ / "runs/one";  // its parent is missing too
  CapturedLog captured_;
};

TEST_F(RunDirectoryTest, BeginsWithTheWholeConfiguration) {
  const RunDirectory run(config({"training.lr=0.25"}), Start::kResume, captured_.log());
  EXPECT_EQ(run.path(), path_);
  EXPECT_EQ(run.best(), path_ / "best");
  EXPECT_TRUE(fs::is_directory(path_ / "checkpoints"));
  const auto written = load_config(path_ / "config.yaml").config;
  EXPECT_TRUE(differences(written, config({"training.lr=0.25"})).empty());
  EXPECT_EQ(captured_.text(), "");
}

TEST_F(RunDirectoryTest, ResumesWithTheSameOptionsInSilence) {
  open(config());
  open(config());
  EXPECT_EQ(captured_.text(), "");
}

TEST_F(RunDirectoryTest, RefusesOptionsThatDecideTheWeights) {
  begin(config());
  EXPECT_EQ(message_of<Error>([&] {
              open(config({"model.d_model=256", "training.lr=0.5", "validation.every=9"}));
            }),
            "run.dir " + path_.string() +
                ": this run was begun with other options (model.d_model: 512 -> 256, training.lr: 0.0003 -> 0.5); use "
                "the old "
                "ones, another --run-dir, or --restart to set the old run aside");
  for (const char* setting : {"training.smoothing=0.2", "run.seed=2", "training.batch_size=64",
                              "model.dropout_rate=0.2", "training.warmup_steps=1", "training.accumulate=2"}) {
    const std::string key(setting, std::string_view(setting).find('='));
    EXPECT_THAT(message_of<Error>([&] { open(config({setting})); }), testing::HasSubstr(key + ": ")) << setting;
  }
  open(config());  // what was refused left the old configuration in place
}

// Such as one that a model directory of training.init_from did not fit.
TEST_F(RunDirectoryTest, TakesOtherOptionsBeforeTheFirstCheckpoint) {
  open(config());
  open(config({"model.d_model=256"}));
  EXPECT_EQ(captured_.text(), "");
  EXPECT_EQ(load_config(path_ / "config.yaml").config.model.d_model, 256);
}

TEST_F(RunDirectoryTest, TakesOtherOptionsWithANotice) {
  begin(config());
  open(config({"training.max_updates=60", "validation.patience=5"}));
  EXPECT_EQ(captured_.text(),
            "info: changed since the run began: training.max_updates: 0 -> 60\n"
            "info: changed since the run began: validation.patience: 0 -> 5\n");
  EXPECT_EQ(load_config(path_ / "config.yaml").config.training.max_updates, 60);
}

TEST_F(RunDirectoryTest, MayBeMoved) {
  open(config());
  fs::rename(path_, folder_ / "runs/two");
  path_ = folder_ / "runs/two";
  open(config());
  EXPECT_EQ(captured_.text(), "");
  EXPECT_EQ(load_config(path_ / "config.yaml").config.run.dir, path_.string());
}

TEST_F(RunDirectoryTest, SetsAnOldRunAsideOnRestart) {
  open(config(), Start::kRestart);  // nothing to set aside
  EXPECT_EQ(captured_.text(), "");
  open(config({"training.lr=0.5"}), Start::kRestart);
  open(config({"training.lr=0.6"}), Start::kRestart);
  EXPECT_EQ(captured_.text(), "info: the old run is now " + path_.string() + ".old-1\ninfo: the old run is now " +
                                  path_.string() + ".old-2\n");
  EXPECT_EQ(load_config(path_.string() + ".old-2/config.yaml").config.training.lr, 0.5);
  EXPECT_EQ(load_config(path_ / "config.yaml").config.training.lr, 0.6);
}

TEST_F(RunDirectoryTest, DoesNotMindASlashAtTheEnd) {
  open(config());
  auto with_slash = config({"training.lr=0.5"});
  with_slash.run.dir += "/";
  const RunDirectory run(with_slash, Start::kRestart, captured_.log());
  EXPECT_EQ(run.path(), path_);
  EXPECT_TRUE(fs::exists(path_.string() + ".old-1"));
}

TEST_F(RunDirectoryTest, IsHeldByOneProcessAtATime) {
  const auto expected =
      "run.dir " + path_.string() + ": another nmt-train is at work there; wait for it or name another --run-dir";
  {
    const RunDirectory held(config(), Start::kResume, captured_.log());
    EXPECT_EQ(message_of<Error>([&] { open(config()); }), expected);
    EXPECT_EQ(message_of<Error>([&] { open(config({"training.lr=0.5"}), Start::kRestart); }), expected);
    EXPECT_TRUE(fs::exists(path_ / "config.yaml")) << "a run at work is not set aside";
  }
  open(config());  // free again
}

TEST_F(RunDirectoryTest, SaysWhereItCannotBeMade) {
  write_file_atomically(folder_ / "file", "x");
  path_ = folder_ / "file/run";
  EXPECT_THAT(message_of<Error>([&] { open(config()); }),
              testing::StartsWith("run.dir " + path_.string() + ": cannot make the folder ("));
}

TEST_F(RunDirectoryTest, NamesADamagedConfiguration) {
  begin(config());
  write_file_atomically(path_ / "config.yaml", "training: {lr: fast}\n");
  EXPECT_THAT(message_of<Error>([&] { open(config()); }),
              testing::StartsWith((path_ / "config.yaml").string() + ":1: "));
}

}  // namespace
}  // namespace nmt::run_directory_test
