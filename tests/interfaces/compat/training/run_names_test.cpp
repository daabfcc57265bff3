#include "compat/training/run_names.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "compat/result_files.h"
#include "config/loading/schema.h"
#include "support.h"
#include "training/checkpoints/checkpoint.h"

namespace fs = std::filesystem;

namespace nmt::compat::run_names_test {
namespace {

using testing::ElementsAre;

/// A run directory with checkpoints, and what an observer makes of two epochs in it.
class RunNamesTest : public testing::Test {
 protected:
  Config config(const std::string& naming) const {
    return parse_config("{run: {dir: '" + run_.path().string() + "', naming: " + naming + "}}", "test").config;
  }
  /// vocab, evaldir and testdir.
  std::vector<std::string> options_written_for(const std::string& sections, const std::string& run = "") const {
    const auto yaml = "{" + sections + "run: {dir: '" + run_.path().string() + "', naming: kyubyong2019" + run + "}}";
    make_run_names(parse_config(yaml, "test").config)->on_start({});
    const auto options = nlohmann::json::parse(read_file(run_ / "hparams"));
    return {options["vocab"], options["evaldir"], options["testdir"]};
  }
  std::unique_ptr<TrainingObserver> names(const std::string& naming) { return make_run_names(config(naming)); }
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
  void run_epoch(TrainingObserver& observer, int64_t epoch, double loss) const {
    observer.on_epoch({.epoch = epoch, .update = 100 * epoch, .loss = loss, .perplexity = 3});
    observer.on_validation({.epoch = epoch,
                            .update = 100 * epoch,
                            .loss = 1.5,
                            .perplexity = 4.5,
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
};

const TrainingStart kStart{.name = "x", .variables = {{"embedding", {32000, 512}}, {"bias", {512}}, {"steps", {}}}};

TEST_F(RunNamesTest, Kyubyong2019NamesModelsByEpochLossAndUpdate) {
  const auto observer = names("kyubyong2019");
  observer->on_start(kStart);
  run_epoch(*observer, 1, 2.6449);
  run_epoch(*observer, 19, 2.636);
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

TEST_F(RunNamesTest, Kyubyong2019WritesOptionsAndVariables) {
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

TEST_F(RunNamesTest, Kyubyong2019WritesWhereFilesAre) {
  const auto eval = (run_ / "eval").string(), test = (run_ / "test").string();
  EXPECT_THAT(
      options_written_for("data: {dir: iwslt2016, naming: kyubyong2019}, ", ", evaldir: eval/1, testdir: test/1"),
      ElementsAre("iwslt2016/segmented/bpe.vocab", "eval/1", "test/1"));
  EXPECT_THAT(options_written_for("data: {joint_vocabulary: false}, model: {tie_embeddings: none}, "),
              ElementsAre("prepared/source.vocab", eval, test));
  EXPECT_THAT(options_written_for("data: {tokenizer: words}, "), ElementsAre("prepared/joint.vocab", eval, test));
  EXPECT_THAT(options_written_for("data: {tokenizer: words, joint_vocabulary: false}, model: {tie_embeddings: none}, "),
              ElementsAre("prepared/de.vocab", eval, test));
}

TEST_F(RunNamesTest, Kyubyong2019TranslatesIntoItsOwnFolder) {
  const auto folder = run_ / "elsewhere" / "1";
  const auto own = parse_config("{run: {dir: '" + run_.path().string() + "', evaldir: '" + folder.string() +
                                    "', naming: kyubyong2019}}",
                                "test")
                       .config;
  run_epoch(*make_run_names(own), 1, 2.5);
  EXPECT_THAT(names_in(folder), ElementsAre(testing::StartsWith("iwslt2016_E01L2.50B")));
  EXPECT_FALSE(fs::exists(run_ / "eval"));
}

TEST_F(RunNamesTest, Kyubyong2017NamesModelsByEpochAndUpdate) {
  const auto observer = names("kyubyong2017");
  observer->on_start(kStart);
  run_epoch(*observer, 18, 1.6);
  EXPECT_THAT(names_in(run_.path()), ElementsAre("checkpoints", "model_epoch_18_gs_1800"));
}

TEST_F(RunNamesTest, LeaveWhatIsNotTheEndOfAnEpochAlone) {
  for (const char* naming : {"kyubyong2019", "kyubyong2017"}) {
    const auto observer = names(naming);
    observer->on_start({.update = 40});
    save_checkpoint(50);
    const auto before = names_in(run_.path());
    observer->on_validation({.update = 50, .hypotheses = {"a"}});
    observer->on_checkpoint(50);
    EXPECT_EQ(names_in(run_.path()), before) << naming;
  }
}

TEST_F(RunNamesTest, ARunThatStoppedBeforeItsValidationGoesOnWithTheEpochsName) {
  const auto observer = names("kyubyong2019");
  auto start = kStart;
  start.update = 200;
  start.epoch_end = EpochReport{.epoch = 2, .update = 200, .loss = 1.25, .perplexity = 3};
  observer->on_start(start);
  save_checkpoint(200);
  observer->on_checkpoint(200);
  EXPECT_TRUE(fs::exists(run_ / "iwslt2016_E02L1.25-200"));
}

TEST_F(RunNamesTest, AreNoneWhereTheNamingIsPlain) { EXPECT_EQ(names("plain"), nullptr); }

TEST_F(RunNamesTest, TheBestModelGoesByTheNameOfItsUpdate) {
  const auto observer = names("kyubyong2019");
  run_epoch(*observer, 3, 2);
  fs::copy(run_ / "checkpoints" / "00000300", run_ / "best");
  EXPECT_EQ(original_model_name(run_ / "best"), "iwslt2016_E03L2.00-300");
  EXPECT_EQ(original_model_name(run_ / "iwslt2016_E03L2.00-300"), "iwslt2016_E03L2.00-300");
  EXPECT_EQ(original_model_name((run_ / "iwslt2016_E03L2.00-300").string() + "/"), "iwslt2016_E03L2.00-300");
  write_file_atomically(run_ / "best" / "model.json", "{}");
  EXPECT_EQ(original_model_name(run_ / "best"), "best");
}

}  // namespace
}  // namespace nmt::compat::run_names_test
