#include "nmt/trainer.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "nmt/translator.h"
#include "support.h"
#include "text/training_lines.h"

namespace nmt::api_trainer_test {
namespace {

namespace fs = std::filesystem;
using api::Configuration;
using api::Trainer;
using api::TrainerOptions;
using test::message_of;
using testing::HasSubstr;

/// A copying task on words: runs of 12 updates take a moment.
class ApiTrainer : public testing::Test {
 protected:
  ApiTrainer() {
    std::ofstream text(folder_ / "text");
    for (const auto& line : test::training_lines(60)) text << line << '\n';
  }

  Configuration configuration(const std::string& run) const {
    const auto setting = [&](const std::string& name, const std::string& value) { return name + "=" + value; };
    const auto text = (folder_ / "text").string();
    return {"",
            {setting("data.train1", text),
             setting("data.train2", text),
             setting("data.eval1", text),
             setting("data.eval2", text),
             setting("data.dir", (folder_ / "prepared").string()),
             "data.tokenizer=words",
             "model.d_model=8",
             "model.d_ff=8",
             "model.num_blocks=1",
             "model.num_heads=2",
             "training.batch_type=sentences",
             "training.batch_size=10",
             "training.max_updates=12",
             "training.num_epochs=0",
             "training.checkpoint_every=4",
             "validation.every=4",
             "validation.max_sentences=5",
             "decoding.beam_size=1",
             "run.threads=1",
             "run.device=cpu",
             "run.tensorboard=false",
             setting("run.dir", (folder_ / run).string())}};
  }
  TrainerOptions options(const std::string& run) const {
    TrainerOptions options;
    options.configuration = configuration(run);
    return options;
  }
  void prepare() const { api::prepare({configuration("any")}); }

  test::TemporaryDirectory folder_;
};

TEST_F(ApiTrainer, PreparesOnce) {
  std::vector<std::string> said;
  const api::PrepareOptions options{
      configuration("any"), false, {}, [&](api::LogLevel, const std::string& line) { said.push_back(line); }};
  const auto first = api::prepare(options);
  EXPECT_EQ(first.directory, (folder_ / "prepared").string());
  EXPECT_FALSE(first.up_to_date);
  EXPECT_THAT(first.table, HasSubstr("pairs read"));
  EXPECT_FALSE(said.empty());
  EXPECT_TRUE(api::prepare(options).up_to_date);
  auto stopped = options;
  stopped.overwrite = true;
  stopped.configuration.settings.push_back("data.min_cnt=2");
  stopped.stop.request_stop();
  EXPECT_THROW(api::prepare(stopped), api::Stopped);
  EXPECT_TRUE(api::prepare(options).up_to_date);
}

TEST_F(ApiTrainer, TellsOfEachUpdateAndValidation) {
  prepare();
  auto wanted = options("run");
  std::vector<std::string> heard;
  wanted.callbacks.on_start = [&](const api::TrainingStart& start) {
    EXPECT_EQ(start.max_updates, 12);
    EXPECT_GT(start.parameters, 100);
    heard.push_back("start");
  };
  wanted.callbacks.on_update = [&](const api::UpdateFigures& figures) {
    EXPECT_GT(figures.loss, 0);
    EXPECT_GT(figures.learning_rate, 0);
    EXPECT_GT(figures.gradient_norm, 0);
    EXPECT_GT(figures.target_tokens, 10);
    EXPECT_NEAR(figures.perplexity, std::exp(figures.loss), figures.perplexity) << "of the same size";
    heard.push_back("update " + std::to_string(figures.update));
  };
  wanted.callbacks.on_validation = [&](const api::ValidationFigures& figures) {
    EXPECT_TRUE(figures.bleu.has_value());
    EXPECT_THAT(figures.bleu_text, HasSubstr("nrefs:1"));
    heard.push_back("validation " + std::to_string(figures.update));
  };
  wanted.callbacks.on_checkpoint = [&](int64_t update) { heard.push_back("checkpoint " + std::to_string(update)); };
  const int threads = at::get_num_threads();
  const auto result = [&] {
    const c10::NoGradGuard of_the_caller;
    return Trainer(wanted).run();
  }();
  EXPECT_EQ(at::get_num_threads(), threads);
  EXPECT_THAT(heard, testing::ElementsAre("start", "update 1", "update 2", "update 3", "update 4", "validation 4",
                                          "checkpoint 4", "update 5", "update 6", "update 7", "update 8",
                                          "validation 8", "checkpoint 8", "update 9", "update 10", "update 11",
                                          "update 12", "validation 12", "checkpoint 12"));
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.updates, 12);
  EXPECT_EQ(result.best_model, (folder_ / "run" / "best").string());
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(api::Translator(result.best_model).translate({"ba der"}).size(), 1u);

  const auto again = Trainer(wanted).run();  // there is nothing left to do; the figures are those of model.json
  EXPECT_EQ(again.updates, 12);
  ASSERT_TRUE(again.best.has_value());
  EXPECT_EQ(again.best->update, result.best->update);
  EXPECT_DOUBLE_EQ(again.best->loss, result.best->loss);
  EXPECT_NEAR(*again.best->bleu, *result.best->bleu, 0.01);
}

TEST_F(ApiTrainer, ABestModelThatWasRemovedIsMadeAnew) {
  prepare();
  auto wanted = options("run");
  wanted.configuration.settings.push_back("training.lr=1e-30");  // no validation is better than the first
  const auto best = Trainer(wanted).run().best_model;
  std::filesystem::remove_all(best);
  wanted.configuration.settings.push_back("training.max_updates=16");
  std::vector<std::string> said;
  wanted.log = [&](api::LogLevel, const std::string& line) { said.push_back(line); };
  Trainer(wanted).run();
  EXPECT_THAT(said, testing::Contains(HasSubstr(best + ": is missing, it had weights of update 4")));
  EXPECT_TRUE(std::filesystem::exists(best));
}

TEST_F(ApiTrainer, ARunInACallbackOfAnotherIsRefused) {
  prepare();
  auto wanted = options("outer");
  std::string message;
  wanted.callbacks.on_start = [&](const api::TrainingStart&) {
    try {
      Trainer(options("inner")).run();
    } catch (const api::UserError& error) {
      message = error.what();
    }
  };
  EXPECT_EQ(Trainer(wanted).run().updates, 12);
  EXPECT_THAT(message, testing::HasSubstr("in a callback of another one"));
}

TEST(ApiStopToken, StaysOneTokenWhenItIsMoved) {
  api::TrainerOptions options;
  const auto moved = std::move(options);
  options.stop.request_stop();  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(moved.stop.stop_requested());
}

TEST_F(ApiTrainer, AnInterruptedRunGoesOnInTheSameBits) {
  prepare();
  Trainer(options("whole")).run();
  auto wanted = options("parts");
  wanted.callbacks.on_update = [stop = wanted.stop](const api::UpdateFigures& figures) {
    if (figures.update == 6) stop.request_stop();
  };
  const auto stopped = Trainer(wanted).run();
  EXPECT_TRUE(stopped.stopped);
  EXPECT_EQ(stopped.updates, 6);
  EXPECT_THAT(stopped.reason, HasSubstr("saved"));
  const auto rest = Trainer(options("parts")).run();
  EXPECT_FALSE(rest.stopped);
  EXPECT_EQ(rest.updates, 12);
  EXPECT_EQ(read_file(folder_ / "whole" / "best" / "model.safetensors"),
            read_file(folder_ / "parts" / "best" / "model.safetensors"));
  struct OwnTrouble {};
  auto thrown = options("thrown");  // what a callback throws ends a run as a kill would
  thrown.callbacks.on_update = [](const api::UpdateFigures& figures) {
    if (figures.update == 6) throw OwnTrouble();
  };
  EXPECT_THROW(Trainer(thrown).run(), OwnTrouble);
  EXPECT_EQ(Trainer(options("thrown")).run().updates, 12);
  EXPECT_EQ(read_file(folder_ / "whole" / "best" / "model.safetensors"),
            read_file(folder_ / "thrown" / "best" / "model.safetensors"));
}

TEST_F(ApiTrainer, StaysWhereItIsMovedFrom) {
  Trainer one(options("moved"));
  const auto other = std::move(one);
  one.request_stop();  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(one.run_directory(), other.run_directory());
}

TEST_F(ApiTrainer, SaysWhatIsWrong) {
  EXPECT_THAT(message_of<api::UserError>([&] { Trainer(options("run")).run(); }), HasSubstr("nmt-prepro"));
  auto wrong = options("run");
  wrong.configuration.settings.push_back("training.lrr=1");
  EXPECT_EQ(message_of<api::UserError>([&] { Trainer{wrong}; }),
            "--set training.lrr=1: unknown option training.lrr; did you mean training.lr?");
  EXPECT_THAT(message_of<api::UserError>([] { api::effective_configuration({"none.yaml"}); }), HasSubstr("none.yaml"));
  EXPECT_THAT(api::effective_configuration({}), HasSubstr("training:\n"));
  prepare();
  auto restarted = options("run");
  Trainer(restarted).run();
  restarted.restart = true;
  EXPECT_EQ(Trainer(restarted).run().updates, 12);
  EXPECT_TRUE(fs::exists(folder_ / "run.old-1"));
}

}  // namespace
}  // namespace nmt::api_trainer_test
