#include "evaluation/evaluation_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/error.h"
#include "evaluation/small_set.h"
#include "evaluation/tiny_model.h"
#include "nn/device/cpu_kernels.h"
#include "support.h"
#include "training/captured_log.h"

namespace nmt::evaluation_run_test {
namespace {

using test::message_of;
using test::save_tiny_model;
using test::small_set;

class EvaluationRunTest : public testing::Test {
 protected:
  EvaluationOptions options() const { return {.models = {.directories = {}, .device = "cpu"}, .quiet = true}; }

  test::TemporaryDirectory folder_;
  Logger log_{"test"};
};

TEST_F(EvaluationRunTest, TakesModelsOrTheRunsBest) {
  const auto named = systems_of({.models = {"a", "b"}});
  ASSERT_EQ(named.size(), 2u);
  EXPECT_EQ(named[1].name(), "b");
  EXPECT_FALSE(named[1].decoding.has_value());
  const auto joined = systems_of({.models = {"a", "b"}, .ensemble = true});
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].name(), "a + b");

  Config run;
  run.run.dir = folder_.path();
  run.decoding.beam_size = 9;
  EXPECT_EQ(message_of<Error>([&] { systems_of({.run = &run, .config_file = "r.yaml"}); }),
            (folder_ / "best").string() +
                ": the run has no validated model yet; train it (nmt-train -c r.yaml) or name a model with -m");
  std::filesystem::create_directory(folder_ / "best");
  const auto best = systems_of({.run = &run, .config_file = "r.yaml"});
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].directories.front(), folder_ / "best");
  EXPECT_EQ(best[0].decoding->beam_size, 9);
  EXPECT_EQ(systems_of({.models = {"a"}, .run = &run})[0].decoding->beam_size, 9);
  EXPECT_THROW(systems_of({}), Error);
}

TEST_F(EvaluationRunTest, EvaluatesASystemOnEachSet) {
  const System system{.directories = {save_tiny_model(folder_ / "m", test::kTinyTransformer)}};
  auto second = small_set();
  second.sources.resize(2), second.references[0].resize(2);
  second.name = "upper";
  test::CapturedLog log;
  auto talking = options();
  talking.quiet = false;
  EvaluationRun run(talking, log.log());
  const auto results = run.evaluate(system, {small_set(), second});
  EXPECT_THAT(log.text(),
              testing::ContainsRegex("/m: BLEU [0-9.]+; 3 sentences in .*\n.*/m, upper: BLEU [0-9.]+; 2 sentences in"));
  ASSERT_TRUE(results.has_value());
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ((*results)[0].output.hypotheses.size(), 3u);
  EXPECT_EQ((*results)[1].output.hypotheses.size(), 2u);
  EXPECT_EQ((*results)[1].output.hypotheses[1], (*results)[0].output.hypotheses[1]);
  const auto& report = (*results)[0].report;
  EXPECT_EQ(report["model"], (folder_ / "m").string());
  EXPECT_EQ(report["scores"].size(), 2u);
  EXPECT_EQ(report["search"]["beam_size"], 2);
  EXPECT_TRUE(report.contains("precision"));
  EXPECT_EQ(report["loss"]["target_tokens"], 13);
  EXPECT_EQ((*results)[1].loss->target_tokens, 10);
  const auto table = run.compared({(*results)[0], (*results)[0]}, small_set());
  EXPECT_EQ(table.systems.size(), 2u);
}

TEST_F(EvaluationRunTest, TranslatesEachSetIntoItsLanguage) {
  const System system{.directories = {save_tiny_model(folder_ / "m", test::kTinyTransformer, ">>x<<\t1\n>>y<<\t1\n")}};
  auto of_x = small_set(), typed = small_set(), of_y = small_set();
  of_x.target_language = "x", of_y.target_language = "y";
  for (auto& source : typed.sources) source = ">>x<< " + source;
  const auto results = EvaluationRun(options(), log_).evaluate(system, {of_x, typed, of_y});
  const auto& [x, by_text, y] = std::tie((*results)[0], (*results)[1], (*results)[2]);
  EXPECT_EQ(x.output.hypotheses, by_text.output.hypotheses);
  EXPECT_EQ(x.loss->loss, by_text.loss->loss);
  EXPECT_NE(x.loss->loss, y.loss->loss);
  auto asked = options();
  asked.models.changed = [&](Config config) {
    config.decoding.target_language = of_x.target_language;
    return config;
  };
  const auto of_all = EvaluationRun(asked, log_).evaluate(system, {small_set(), of_y});
  EXPECT_EQ((*of_all)[0].output.hypotheses, x.output.hypotheses);
  EXPECT_EQ((*of_all)[0].loss->loss, x.loss->loss);
  EXPECT_EQ((*of_all)[1].loss->loss, y.loss->loss) << "the set's own comes before it";
}

TEST_F(EvaluationRunTest, WarnsOfAModelOfOtherLanguages) {
  const System system{.directories = {save_tiny_model(folder_ / "m", test::kTinyTransformer)}};
  for (const auto& [languages, warned] : {std::pair<std::pair<std::string, std::string>, bool>{{"de", "en"}, false},
                                          {{}, false},
                                          {{"en", "de"}, true},
                                          {{"de", "cs"}, true}}) {
    test::CapturedLog log;
    auto asked = options();
    asked.languages = languages;
    EvaluationRun(asked, log.log()).evaluate(system, {small_set()});
    EXPECT_EQ(log.text().find("warning: " + (folder_ / "m").string() + ": translates from de to en, ") == 0, warned);
  }
}

TEST_F(EvaluationRunTest, MeasuresTheLossInFloat32) {
  const System system{.directories = {save_tiny_model(folder_ / "m", test::kTinyTransformer)}};
  const auto loss_in = [&](DecodingPrecision precision) {
    auto asked = options();
    asked.models.changed = [=](const Config& config) {
      Config result = config;
      result.decoding.precision = precision;
      return result;
    };
    const auto results = EvaluationRun(asked, log_).evaluate(system, {small_set()});
    EXPECT_EQ(results->front().report["precision"], name_of(precision));
    return results->front().loss->loss;
  };
  EXPECT_EQ(loss_in(DecodingPrecision::kInt8), loss_in(DecodingPrecision::kFp32)) << "whatever translates";
}

TEST_F(EvaluationRunTest, HasNoLossOfEnsemblesAndWhereItIsLeftOut) {
  const auto model = save_tiny_model(folder_ / "m", test::kTinyTransformer);
  auto without = options();
  without.loss = false;
  EXPECT_FALSE(
      EvaluationRun(without, log_).evaluate({.directories = {model}}, {small_set()})->front().loss.has_value());
  const auto joined = EvaluationRun(options(), log_).evaluate({.directories = {model, model}}, {small_set()});
  EXPECT_FALSE(joined->front().loss.has_value());
  EXPECT_FALSE(joined->front().report.contains("loss"));
}

TEST_F(EvaluationRunTest, StopsBetweenSteps) {
  const ThreadLimit one(1);  // how often it is asked is the same each time then
  const System system{.directories = {save_tiny_model(folder_ / "m", test::kTinyTransformer)}};
  int asked = 0, stop_at = 0;
  auto wanted = options();
  wanted.should_stop = [&] { return ++asked == stop_at; };
  wanted.loss = false;
  ASSERT_TRUE(EvaluationRun(wanted, log_).evaluate(system, {small_set()}).has_value());
  const int while_translating = std::exchange(asked, 0);
  ASSERT_GT(while_translating, 0);
  stop_at = 1;
  EXPECT_FALSE(EvaluationRun(wanted, log_).evaluate(system, {small_set()}).has_value());
  asked = 0;
  stop_at = while_translating + 1;
  wanted.loss = true;
  EXPECT_FALSE(EvaluationRun(wanted, log_).evaluate(system, {small_set()}).has_value()) << "while measuring the loss";
}

TEST_F(EvaluationRunTest, DrawsAttention) {
  const System system{.directories = {save_tiny_model(folder_ / "m", test::kTinyTransformer)}};
  auto asked = options();
  asked.attention_folder = folder_ / "pictures";
  asked.attention_sentences = {1, 3};
  EvaluationRun(asked, log_).evaluate(system, {small_set()});
  for (const char* name : {"1.svg", "1.json", "3.svg", "3.json"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / "pictures" / name)) << name;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "pictures" / "2.svg"));
}

}  // namespace
}  // namespace nmt::evaluation_run_test
