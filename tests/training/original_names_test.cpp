#include "training/original_names.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files/file.h"
#include "base/strict_json.h"
#include "config/loading/schema.h"
#include "evaluation/original_results.h"
#include "support.h"
#include "training/captured_log.h"
#include "training/checkpoints/checkpoint.h"

namespace fs = std::filesystem;

namespace nmt::original_names_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A run directory with checkpoints, and what an observer makes of two epochs in it.
class OriginalNamesTest : public testing::Test {
 protected:
  Config config(const std::string& naming) const {
    return parse_config("{run: {dir: '" + run_.path().string() + "', naming: " + naming + "}}", "test").config;
  }
  std::vector<std::string> options_written_for(const std::string& yaml) const {
    make_original_names(parse_config(yaml, "test").config, run_.path(), log_.log())->on_start({});
    const auto options = nlohmann::json::parse(read_file(run_ / "hparams"));
    return {options["vocab"], options["evaldir"], options["testdir"]};
  }
  std::unique_ptr<TrainingObserver> names(const std::string& naming) {
    return make_original_names(config(naming), run_.path(), log_.log());
  }
  void save_checkpoint(int64_t update) const {
    fs::create_directories(run_ / "checkpoints");
    write_directory(run_ / "checkpoints" / fmt_update(update), [&](const fs::path& folder) {
      for (const char* file : {"model.safetensors", "spm.model", "trainer.safetensors", "state.json"})
        write_file_atomically(folder / file, std::string(file) + " of " + std::to_string(update));
      write_file_atomically(folder / "model.json", nlohmann::json({{"summary", {{"update", update}}}}).dump());
    });
  }
  static std::string fmt_update(int64_t update) {
    const auto digits = std::to_string(update);
    return std::string(8 - digits.size(), '0') + digits;
  }
  /// An epoch of 100 updates that ends with validation and checkpoint.
  void run_epoch(TrainingObserver& observer, int64_t epoch, double loss, bool best) const {
    observer.on_epoch({.epoch = epoch,
                       .update = 100 * epoch,
                       .loss = 9,
                       .perplexity = 3,
                       .batch_loss = loss,
                       .next_batch_loss = loss});
    observer.on_validation({.epoch = epoch,
                            .update = 100 * epoch,
                            .loss = 1.5,
                            .perplexity = 4.5,
                            .batch_loss = 1.613,
                            .is_best = best,
                            .sources = {"x", "y"},
                            .references = {"a b c d", "e f g h"},
                            .hypotheses = {"a b c d", "e f g h"}});
    save_checkpoint(100 * epoch);
    observer.on_checkpoint(100 * epoch);
  }
  std::vector<std::string> names_in(const fs::path& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  test::TemporaryDirectory run_;
  mutable test::CapturedLog log_;
};

const TrainingStart kStart{.name = "x", .variables = {{"embedding", {32000, 512}}, {"bias", {512}}, {"steps", {}}}};

TEST_F(OriginalNamesTest, Kyubyong2019NamesModelsByEpochLossAndUpdate) {
  const auto observer = names("kyubyong2019");
  observer->on_start(kStart);
  run_epoch(*observer, 1, 2.6449, true);
  run_epoch(*observer, 19, 2.636, true);
  EXPECT_THAT(names_in(run_.path()), ElementsAre("checkpoints", "eval", "hparams", "iwslt2016_E01L2.64-100",
                                                 "iwslt2016_E19L2.64-1900", "specs"));
  EXPECT_THAT(names_in(run_ / "iwslt2016_E01L2.64-100"),
              ElementsAre("checksums.json", "model.json", "model.safetensors", "spm.model"));
  fs::remove_all(run_ / "checkpoints" / "00000100");  // as old checkpoints go
  EXPECT_EQ(read_file(run_ / "iwslt2016_E01L2.64-100" / "model.safetensors"), "model.safetensors of 100");
  EXPECT_EQ(damage_of(run_ / "iwslt2016_E01L2.64-100"), std::nullopt);
  const auto files = names_in(run_ / "eval");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_THAT(files[0], testing::StartsWith("iwslt2016_E01L2.64B"));
  EXPECT_THAT(read_file(run_ / "eval" / files[0]), testing::StartsWith("a b c d\ne f g h\nBLEU = "));
}

TEST_F(OriginalNamesTest, Kyubyong2019WritesOptionsAndVariables) {
  names("kyubyong2019")->on_start(kStart);
  EXPECT_EQ(read_file(run_ / "specs"), "num_params: 16384513\nembedding===(32000, 512)\nbias===(512,)\nsteps===()");
  const auto options = nlohmann::json::parse(read_file(run_ / "hparams"));
  EXPECT_EQ(options["d_model"], config("plain").model.d_model);
  EXPECT_EQ(options["vocab_size"], config("plain").data.vocab_size);
  EXPECT_EQ(options["logdir"], run_.path().string());
  EXPECT_EQ(options["toolkit"]["run"]["naming"], "kyubyong2019");
  EXPECT_EQ(options["eval_batch_size"], config("plain").decoding.batch_size);
  ASSERT_TRUE(options.contains("ckpt"));
  EXPECT_TRUE(options["ckpt"].is_null()) << "his default, None";
  EXPECT_EQ(options["vocab"], "prepared/spm.vocab");
  EXPECT_EQ(options["evaldir"], (run_ / "eval").string());
  EXPECT_EQ(options["testdir"], (run_ / "test").string());
}

TEST_F(OriginalNamesTest, Kyubyong2019WritesWhereFilesAre) {
  EXPECT_THAT(options_written_for("{data: {dir: iwslt2016, naming: kyubyong2019}, run: {dir: log/1, evaldir: eval/1, "
                                  "testdir: test/1, naming: kyubyong2019}}"),
              ElementsAre("iwslt2016/segmented/bpe.vocab", "eval/1", "test/1"));
  EXPECT_THAT(
      options_written_for(
          "{data: {joint_vocabulary: false}, model: {tie_embeddings: none}, run: {dir: log/1, naming: kyubyong2019}}"),
      ElementsAre("prepared/source.vocab", "log/1/eval", "log/1/test"));
  EXPECT_THAT(options_written_for("{data: {tokenizer: words}, run: {naming: kyubyong2019}}"),
              ElementsAre("prepared/joint.vocab", "runs/default/eval", "runs/default/test"));
  EXPECT_THAT(options_written_for("{data: {tokenizer: words, joint_vocabulary: false}, model: {tie_embeddings: none}, "
                                  "run: {naming: kyubyong2019}}"),
              ElementsAre("prepared/de.vocab", "runs/default/eval", "runs/default/test"));
}

TEST_F(OriginalNamesTest, Kyubyong2019TranslatesIntoItsOwnFolder) {
  const auto folder = run_ / "elsewhere" / "1";
  const auto own = parse_config("{run: {dir: '" + run_.path().string() + "', evaldir: '" + folder.string() +
                                    "', naming: kyubyong2019}}",
                                "test")
                       .config;
  run_epoch(*make_original_names(own, run_.path(), log_.log()), 1, 2.5, true);
  EXPECT_THAT(names_in(folder), ElementsAre(testing::StartsWith("iwslt2016_E01L2.50B")));
  EXPECT_FALSE(fs::exists(run_ / "eval"));
}

TEST_F(OriginalNamesTest, Kyubyong2019TakesTheEpochsMeanWhereTheNextBatchWasNotMeasured) {
  const auto observer = names("kyubyong2019");
  observer->on_epoch({.epoch = 1, .update = 100, .loss = 3.25});
  save_checkpoint(100);
  observer->on_checkpoint(100);
  EXPECT_TRUE(fs::exists(run_ / "iwslt2016_E01L3.25-100"));
}

TEST_F(OriginalNamesTest, Kyubyong2017NamesModelsByEpochAndUpdate) {
  const auto observer = names("kyubyong2017");
  observer->on_start(kStart);
  run_epoch(*observer, 18, 1.6, false);
  EXPECT_THAT(names_in(run_.path()), ElementsAre("checkpoints", "model_epoch_18_gs_1800"));
}

TEST_F(OriginalNamesTest, TrevettKeepsTheBestAndLogsThreeLinesAnEpoch) {
  const auto observer = names("trevett");
  observer->on_start(kStart);
  run_epoch(*observer, 1, 4.222, true);
  run_epoch(*observer, 2, 3.1, false);
  EXPECT_THAT(names_in(run_.path()), ElementsAre("checkpoints", "model-0.pt"));
  EXPECT_THAT(log_.text(), HasSubstr("Epoch: 01 | Time: 0m 0s\n"));
  EXPECT_THAT(log_.text(), HasSubstr("\tTrain Loss: 4.222 | Train PPL:  68.170\n"));
  EXPECT_THAT(log_.text(), HasSubstr("\t Val. Loss: 1.613 |  Val. PPL:   5.018\n"));
  EXPECT_THAT(log_.text(), HasSubstr("Epoch: 02 | Time: 0m 0s\n"));
}

TEST_F(OriginalNamesTest, PrenormNamesTheCheckpointsThatStand) {
  const auto observer = names("prenorm");
  observer->on_start(kStart);
  observer->on_interval({.update = 100, .loss = 9, .accuracy = 0.75, .last_loss = 6.00534, .last_accuracy = 0.178});
  observer->on_interval({.update = 127, .last_loss = 1, .last_accuracy = 1});  // the end of an epoch
  EXPECT_EQ(log_.text(), "info: 100: loss: 6.00534,\t acc: 0.178\n");
  for (const int64_t update : {100, 200}) {
    save_checkpoint(update);
    observer->on_checkpoint(update);
  }
  EXPECT_THAT(names_in(run_.path()), ElementsAre("checkpoints", "model.ckpt-100", "model.ckpt-200"));
  EXPECT_EQ(damage_of(run_ / "model.ckpt-200"), std::nullopt);
  EXPECT_EQ(original_model_name(run_ / "model.ckpt-200"), "model.ckpt-200");
  fs::create_directory(run_ / "model.ckpt-mine");
  fs::remove_all(run_ / "checkpoints" / "00000100");  // as old checkpoints go
  save_checkpoint(300);
  observer->on_checkpoint(300);
  EXPECT_THAT(names_in(run_.path()), ElementsAre("checkpoints", "model.ckpt-200", "model.ckpt-300", "model.ckpt-mine"));
}

TEST_F(OriginalNamesTest, LeaveWhatIsNotTheEndOfAnEpochAlone) {
  for (const char* naming : {"kyubyong2019", "kyubyong2017", "trevett"}) {
    const auto observer = names(naming);
    observer->on_start({.update = 40});
    save_checkpoint(50);
    const auto before = names_in(run_.path());
    observer->on_validation({.update = 50, .is_best = true, .hypotheses = {"a"}});
    observer->on_checkpoint(50);
    EXPECT_EQ(names_in(run_.path()), before) << naming;
  }
}

TEST_F(OriginalNamesTest, ARunThatStoppedBeforeItsValidationGoesOnWithTheEpochsName) {
  const auto observer = names("kyubyong2019");
  auto start = kStart;
  start.update = 200;
  start.epoch_end = EpochReport{.epoch = 2, .update = 200, .loss = 1.25, .perplexity = 3};
  observer->on_start(start);
  save_checkpoint(200);
  observer->on_checkpoint(200);
  EXPECT_TRUE(fs::exists(run_ / "iwslt2016_E02L1.25-200"));
}

TEST_F(OriginalNamesTest, AreNoneWhereTheNamingIsPlain) { EXPECT_EQ(names("plain"), nullptr); }

TEST_F(OriginalNamesTest, TheBestModelGoesByTheNameOfItsUpdate) {
  const auto observer = names("kyubyong2019");
  run_epoch(*observer, 3, 2, true);
  fs::copy(run_ / "checkpoints" / "00000300", run_ / "best");
  EXPECT_EQ(original_model_name(run_ / "best"), "iwslt2016_E03L2.00-300");
  EXPECT_EQ(original_model_name(run_ / "iwslt2016_E03L2.00-300"), "iwslt2016_E03L2.00-300");
  EXPECT_EQ(original_model_name((run_ / "iwslt2016_E03L2.00-300").string() + "/"), "iwslt2016_E03L2.00-300");
  write_file_atomically(run_ / "best" / "model.json", "{}");
  EXPECT_EQ(original_model_name(run_ / "best"), "best");
}

}  // namespace
}  // namespace nmt::original_names_test
