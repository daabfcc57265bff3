#include "training/checkpoints/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files/file.h"
#include "config/loading/schema.h"
#include "config/option_listing.h"
#include "report/records/run_records.h"
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
  void open(const Config& config, Start start = Start::kResume) {
    RunDirectory(config, start, captured_.log()).keep_configuration(config);
  }
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
  EXPECT_FALSE(fs::exists(path_ / "config.yaml")) << "whoever opens it may still refuse to resume";
  run.keep_configuration(config({"training.lr=0.25"}));
  EXPECT_EQ(run.path(), path_);
  EXPECT_EQ(run.best(), path_ / "best");
  EXPECT_TRUE(fs::is_directory(path_ / "checkpoints"));
  const auto written = load_config(path_ / "config.yaml").config;
  EXPECT_TRUE(differences(written, config({"training.lr=0.25"})).empty());
  EXPECT_EQ(captured_.text(), "");
}

// From an older checkpoint, or after a kill between two of them.
TEST_F(RunDirectoryTest, KeepsABestOfLaterUpdates) {
  const RunDirectory run(config(), Start::kResume, captured_.log());
  run.keep_later_best(100, captured_.log());  // there is none
  write_directory(run.best(), [](const fs::path& made) {
    write_file_atomically(made / "model.json", R"({"summary": {"update": 300}})");
    write_file_atomically(made / "model.safetensors", "weights");
  });
  run.keep_later_best(300, captured_.log());
  EXPECT_EQ(captured_.text(), "");
  for (int start = 0; start < 2; ++start) run.keep_later_best(200, captured_.log());
  EXPECT_EQ(damage_of(path_ / "best.of-00000300"), std::nullopt);
  EXPECT_EQ(captured_.text(), "warning: " + run.best().string() +
                                  ": has weights of update 300, and the run resumes from update 200: " +
                                  (path_ / "best.of-00000300").string() + " keeps them\n");
}

TEST_F(RunDirectoryTest, ResumesWithTheSameOptionsInSilence) {
  open(config());
  open(config());
  EXPECT_EQ(captured_.text(), "");
}

TEST_F(RunDirectoryTest, SaysThatItCannotCompareTheOptions) {
  begin(config());
  fs::remove(path_ / "config.yaml");
  open(config({"training.lr=0.5"}));
  EXPECT_THAT(captured_.text(), testing::HasSubstr("config.yaml: is missing: nothing tells"));
}

// A link to a folder on another disk, for instance.
TEST_F(RunDirectoryTest, BeginsBesideAnEmptyBest) {
  fs::create_directories(path_ / "best");
  open(config());
  write_file_atomically(path_ / "best" / "model.json", "{}");
  EXPECT_THAT(message_of<Error>([&] { open(config()); }), testing::HasSubstr("would replace its best/"));
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
  for (const char* setting :
       {"training.smoothing=0.2", "run.seed=2", "training.batch_size=64", "model.dropout_rate=0.2",
        "training.warmup_steps=1", "training.accumulate=2", "validation.best_metric=loss"}) {
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

TEST_F(RunDirectoryTest, WarnsThatScoresAreMeasuredInAnotherWay) {
  begin(config());
  open(config({"validation.beam_size=7", "decoding.max_length_ratio=9", "decoding.batch_size=7"}));
  EXPECT_THAT(captured_.text(), testing::HasSubstr("warning: changed since the run began: validation.beam_size: "));
  EXPECT_THAT(captured_.text(), testing::HasSubstr("-> 7; the best score so far was measured with the old value\n"));
  EXPECT_THAT(captured_.text(),
              testing::HasSubstr("warning: changed since the run began: decoding.max_length_ratio: "));
  EXPECT_THAT(captured_.text(), testing::HasSubstr("info: changed since the run began: decoding.batch_size: "));
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
    EXPECT_TRUE(fs::exists(path_ / "checkpoints")) << "a run at work is not set aside";
  }
  open(config());  // free again
}

TEST_F(RunDirectoryTest, SaysWhereItCannotBeMade) {
  write_file_atomically(folder_ / "file", "x");
  path_ = folder_ / "file/run";
  EXPECT_THAT(message_of<Error>([&] { open(config()); }),
              testing::StartsWith("run.dir " + path_.string() + ": cannot make the folder ("));
}

TEST_F(RunDirectoryTest, RefusesAPlaceThatBestCannotTake) {
  fs::create_directories(path_);
  fs::create_symlink(folder_ / "nowhere", path_ / "best");
  EXPECT_THAT(message_of<Error>([&] { open(config()); }),
              testing::StartsWith((path_ / "best").string() + ": is a symbolic link to nothing"));
  fs::remove(path_ / "best");
  open(config());
  EXPECT_FALSE(fs::exists(path_ / "best"));
}

// Each new best model takes the place of the folder.
TEST_F(RunDirectoryTest, RefusesABestWithSomethingElse) {
  begin(config());
  const auto best = path_ / "best";
  write_directory(best, [](const fs::path& made) { write_file_atomically(made / "model.json", "{}"); });
  open(config());
  write_file_atomically(best / "test.hyp", "mine");
  EXPECT_EQ(message_of<Error>([&] { open(config()); }),
            best.string() +
                ": holds test.hyp, which its checksums.json does not name; move it to another folder, since "
                "each new best model replaces this one");
  EXPECT_EQ(read_file(best / "test.hyp"), "mine");
  fs::remove(best / "test.hyp");
  open(config());
}

TEST_F(RunDirectoryTest, NamesADamagedConfiguration) {
  begin(config());
  write_file_atomically(path_ / "config.yaml", "training: {lr: fast}\n");
  EXPECT_THAT(message_of<Error>([&] { open(config()); }),
              testing::StartsWith((path_ / "config.yaml").string() + ":1: "));
}

// The command that was meant to resume would begin at update 0 and write over what is left.
TEST_F(RunDirectoryTest, DoesNotBeginAnewWhereOnlyTheCheckpointsAreGone) {
  const auto refusal = [&](const std::string& what) {
    return "run.dir " + path_.string() + ": a run without checkpoints: a new one would replace its " + what +
           "; bring the checkpoints back, name another --run-dir, or --restart to set the old run aside";
  };
  open(config());
  fs::create_directory(path_ / "best");
  write_file_atomically(path_ / "best" / "model.json", "{}");
  EXPECT_EQ(message_of<Error>([&] { open(config()); }), refusal("best/"));
  fs::remove(path_ / "checkpoints");
  EXPECT_EQ(message_of<Error>([&] { open(config()); }), refusal("best/"));
  fs::remove_all(path_ / "best");
  open(config());
  const auto rows = format_validation_line({.update = 50}) + "\n" + format_validation_line({.update = 100}) + "\n";
  write_file_atomically(path_ / "validations.tsv", std::string(kValidationHeader) + "\n" + rows);
  EXPECT_EQ(message_of<Error>([&] { open(config()); }), refusal("validations.tsv"));
  EXPECT_EQ(message_of<Error>([&] { open(config({"training.checkpoint_every=1000"})); }), refusal("validations.tsv"));
  fs::create_directory(path_ / "checkpoints" / "00000100");
  open(config());
  EXPECT_TRUE(fs::exists(path_ / "validations.tsv"));
  fs::rename(path_ / "checkpoints" / "00000100", path_ / "checkpoints" / "kept");
  write_file_atomically(path_ / "checkpoints" / ".DS_Store", "x");
  EXPECT_EQ(message_of<Error>([&] { open(config()); }), refusal("validations.tsv")) << "none of these is a checkpoint";
  open(config(), Start::kRestart);
  EXPECT_TRUE(fs::exists(path_.string() + ".old-1/validations.tsv"));
}

TEST_F(RunDirectoryTest, BeginsAnewWhereARunWasKilledBeforeItsFirstCheckpoint) {
  open(config());
  for (const char* name : {"log.txt", "metrics.jsonl", "sessions.jsonl"}) write_file_atomically(path_ / name, "x\n");
  write_file_atomically(path_ / "validations.tsv", std::string(kValidationHeader) + "\n");
  open(config());
}

TEST_F(RunDirectoryTest, LeavesFoldersOfOthersAlone) {
  const auto refusal = [&](Start start) { return message_of<Error>([&] { open(config(), start); }); };
  const auto of = [&](const std::string& name) {
    return "run.dir " + path_.string() + ": a folder with other things (" + name +
           ") and no run; name another --run-dir";
  };
  fs::create_directories(path_);
  open(config());  // an empty one is welcome
  fs::remove_all(path_);
  fs::create_directories(path_);
  write_file_atomically(path_ / "config.yaml", "theme: dark\n");
  for (const auto start : {Start::kResume, Start::kRestart})
    EXPECT_THAT(refusal(start), testing::StartsWith((path_ / "config.yaml").string() + ":1: "));
  EXPECT_FALSE(fs::exists(path_ / ".lock"));
  fs::remove(path_ / "config.yaml");
  fs::create_directories(path_ / "samples");
  for (const auto start : {Start::kResume, Start::kRestart}) EXPECT_EQ(refusal(start), of("samples"));
  fs::remove(path_ / "samples");
  write_file_atomically(path_ / "slurm-17.out", "");
  EXPECT_EQ(refusal(Start::kRestart), of("slurm-17.out")) << "whatever it is, it is not moved away";
  open(config());  // what a launcher says of the run
  write_file_atomically(path_ / "config.yaml", "training: {lr: 0.1}\n");
  open(config());  // of a run that someone keeps more in
}

TEST_F(RunDirectoryTest, LeavesPreparedDataAlone) {
  fs::create_directories(path_);
  write_file_atomically(path_ / "manifest.json", "{}");
  for (const auto start : {Start::kResume, Start::kRestart})
    EXPECT_THAT(message_of<Error>([&] { open(config(), start); }), testing::HasSubstr("prepared data lie there"));
  EXPECT_FALSE(fs::exists(path_ / ".lock"));
  fs::remove(path_ / "manifest.json");
  open(config());
  write_file_atomically(path_ / "manifest.json", "{}");
  open(config());  // a run that began there before the data resumes
  EXPECT_THAT(message_of<Error>([&] { open(config(), Start::kRestart); }),
              testing::HasSubstr("prepared data lie there"));
}

TEST_F(RunDirectoryTest, SaysWhyAFolderCannotBeSetAside) {
  open(config());
  const auto before = fs::current_path();
  fs::current_path(path_);
  path_ = ".";
  EXPECT_THAT(message_of<Error>([&] { open(config(), Start::kRestart); }),
              testing::MatchesRegex("run.dir .: --restart cannot rename the folder to ..old-1 \\(.*\\); name another "
                                    "--run-dir, and a folder by its name, not as . or .."));
  fs::current_path(before);
}

}  // namespace
}  // namespace nmt::run_directory_test
