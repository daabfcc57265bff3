#include "evaluation/test_loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "evaluation/small_set.h"
#include "evaluation/tiny_model.h"
#include "support.h"
#include "translation/translator.h"

namespace nmt::test_loss_test {
namespace {

using test::message_of;
using test::save_tiny_model;
using test::small_set;

class TestLossTest : public testing::Test {
 protected:
  LoadedModel load(const char* model) {
    return load_model(save_tiny_model(folder_ / "model", model), torch::Device(torch::kCPU));
  }
  test::TemporaryDirectory folder_;
};

TEST_F(TestLossTest, IsTheSumOfTheScoresOfTheReferences) {
  // Forced scoring through the steps of the search gives log p of each reference, end symbols counted.
  auto loaded = load(test::kTinyTransformer);
  auto set = small_set();
  set.references[0][1] = "h g a b c d";
  set.references.push_back({"a", "a", "a"});  // only the first reference counts
  const auto loss = test_loss(*loaded.model, loaded, set);
  auto options = translator_options(loaded.config);
  options.search.length_penalty = 0;
  std::vector<TextPair> pairs;
  for (size_t i = 0; i < set.sources.size(); ++i) pairs.push_back({set.sources[i], set.references[0][i]});
  double expected = 0;
  for (const auto& scored : Translator(*loaded.model, loaded.codec, options).score(pairs)) expected -= scored.score;
  EXPECT_EQ(loss.target_tokens, 5 + 7 + 3);
  EXPECT_NEAR(loss.loss * 15, expected, 1e-3);
  EXPECT_NEAR(loss.perplexity(), std::exp(expected / 15), 1e-3);
  EXPECT_EQ(loss.pairs, 3);
  EXPECT_EQ(loss.too_long, 0);
  const auto report = report_of(loss);
  EXPECT_EQ(report["target_tokens"], 15);
  EXPECT_EQ(report["loss"], loss.loss);
}

TEST_F(TestLossTest, CountsPairsThatAreTooLong) {
  const auto loaded = load(test::kTinyLearned);  // 20 places
  auto set = small_set();
  const auto whole = test_loss(*loaded.model, loaded, set);
  std::string words = "a";
  for (int i = 0; i < 18; ++i) words += " b";
  set.sources.push_back(words), set.references[0].push_back("a");
  EXPECT_EQ(test_loss(*loaded.model, loaded, set).too_long, 0) << "19 words and </s>";
  set.sources.push_back("a"), set.references[0].push_back(words + " b");
  const auto loss = test_loss(*loaded.model, loaded, set);
  EXPECT_EQ(loss.too_long, 1);
  EXPECT_EQ(loss.pairs, 4);
  EXPECT_EQ(loss.target_tokens, whole.target_tokens + 2);
  EXPECT_THAT(loss.format(), testing::EndsWith("; without 1 pairs that are too long for the model)"));
  set.sources = {"a"}, set.references = {{words + " b"}};
  EXPECT_THAT(message_of<Error>([&] { test_loss(*loaded.model, loaded, set); }),
              testing::HasSubstr("leave the loss out"));
}

TEST_F(TestLossTest, FreeRunningIsForRecurrentModels) {
  const auto recurrent = load(test::kTinyRecurrent);
  const auto forced = test_loss(*recurrent.model, recurrent, small_set());
  const auto free = test_loss(*recurrent.model, recurrent, small_set(), {.teacher_forcing = 0});
  EXPECT_NE(free.loss, forced.loss);
  EXPECT_EQ(free.target_tokens, forced.target_tokens);
  EXPECT_THAT(free.format(), testing::EndsWith("(13 target tokens, free-running)"));
  const auto transformer = load(test::kTinyTransformer);
  EXPECT_EQ(
      message_of<Error>([&] { test_loss(*transformer.model, transformer, small_set(), {.teacher_forcing = 0.5}); }),
      "teacher forcing 0.5: is for recurrent models, " + (folder_ / "model").string() +
          " is a transformer; leave it out");
}

TEST_F(TestLossTest, TellsHowFarItIs) {
  int64_t last = 0;
  const auto other = load(test::kTinyTransformer);
  test_loss(*other.model, other, small_set(), {.progress = [&](int64_t done) { last = done; }});
  EXPECT_EQ(last, 3);
}

}  // namespace
}  // namespace nmt::test_loss_test
