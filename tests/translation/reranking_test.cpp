#include "translation/reranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/files/file.h"
#include "evaluation/tiny_model.h"
#include "support.h"

namespace fs = std::filesystem;

namespace nmt::reranking_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// A ranked model of German to English, one of the same direction and one of the other.
class RerankingTest : public testing::Test {
 protected:
  fs::path model(const std::string& name, const std::string& shape, const std::string& source = "de",
                 const std::string& target = "en") const {
    return test::save_tiny_model(folder_ / name, shape, "", source, target);
  }
  test::TemporaryDirectory folder_;
  const fs::path own_ = model("own", test::kTinyTransformer);
  const fs::path same_ = model("same", test::kTinyRecurrent);
  const fs::path other_ = model("other", test::kTinyTransformer, "en", "de");
  const ModelSet models_{{.directories = {own_}, .device = "cpu"}};
  const std::vector<std::string> sources_ = {"a b c", "", "h g f a"};
};

std::vector<double> mean_scores(const fs::path& directory, const std::vector<TextPair>& pairs) {
  const ModelSet models({.directories = {directory}, .device = "cpu"});
  std::vector<double> means;
  for (const auto& one : Translator(models.members(), models.options()).score(pairs))
    means.push_back(one.log_probability / static_cast<double>(one.tokens));
  return means;
}

TEST_F(RerankingTest, FeaturesAreMeansOfTheModelsInTheirDirectionsAndTheLength) {
  const Reranker reranker({.models = {{same_}, {other_}}}, models_.first(), "cpu");
  const Translator translator(models_.members(), options_for_reranking(models_.options()));
  const auto translations = translator.translate(sources_);
  ASSERT_EQ(translations[0].alternatives.size(), 2u);
  const auto features = reranker.features(sources_, translations);
  EXPECT_TRUE(features[1].empty());
  for (const size_t line : {0, 2}) {
    std::vector<TextPair> forward, backward;
    for (const auto& one : translations[line].alternatives) {
      forward.push_back({sources_[line], one.text});
      backward.push_back({one.text, sources_[line]});
    }
    const auto by_same = mean_scores(same_, forward), by_other = mean_scores(other_, backward);
    for (size_t k = 0; k < 2; ++k)
      EXPECT_THAT(features[line][k],
                  ElementsAre(by_same[k], by_other[k], static_cast<double>(translations[line].alternatives[k].tokens)));
  }
}

TEST_F(RerankingTest, ABestTranslationIsThatOfTheWeightedSum) {
  std::vector<Translation> translations(1);
  for (const auto& [text, score, finished] : {std::tuple("a", -1.0, true), {"b", -2.0, true}, {"c", -9.0, false}})
    translations[0].alternatives.push_back({.text = text, .score = score, .tokens = 3, .finished = finished});
  const RerankFeatures features = {{{0, 1}, {2, 1}, {100, 1}}};
  const auto ranked = [&](double weight, int64_t n_best) {
    auto result = translations;
    rank_by_features(result, features, std::vector{weight, 0.5}, n_best);
    std::string texts;
    for (const auto& one : result[0].alternatives) texts += one.text;
    EXPECT_EQ(result[0].text, texts.substr(0, 1));
    EXPECT_EQ(result[0].target_tokens, 3);
    return texts;
  };
  EXPECT_EQ(ranked(0, 3), "abc");
  EXPECT_EQ(ranked(0.5, 3), "abc");   // equal sums: the search's order
  EXPECT_EQ(ranked(0.51, 3), "bac");  // what was cut stays behind
  EXPECT_EQ(ranked(0.51, 1), "b");
}

TEST_F(RerankingTest, IsWrittenAndReadAndKnowsItsModels) {
  const Reranker tuned({.models = {{other_}}}, models_.first(), "cpu");
  auto reranking = tuned.reranking();
  EXPECT_EQ(reranking.models[0].sha256, sha256_of_file(other_ / "model.safetensors"));
  reranking.models[0].directory = "../other";
  reranking.models[0].weight = 0.35;
  reranking.length = -0.02;
  write_reranking(own_, reranking, {{"sentences", 3}});
  const auto found = read_reranking(own_);
  EXPECT_THAT(found.weights(), ElementsAre(0.35, -0.02));
  EXPECT_EQ(found.models[0].directory, "../other");
  EXPECT_EQ(found.models[0].sha256, reranking.models[0].sha256);
  const Reranker again(found, models_.first(), "cpu");  // a path that begins at the ranked model

  reranking.models[0].sha256 = std::string(64, '0');
  EXPECT_THAT(message_of<Error>([&] { Reranker(reranking, models_.first(), "cpu"); }),
              HasSubstr("run nmt-eval --tune-rerank again"));
}

TEST_F(RerankingTest, RefusesWhatItCannotUse) {
  EXPECT_THAT(message_of<Error>([&] { read_reranking(own_); }), HasSubstr("nmt-eval --tune-rerank DIR writes it"));
  write_file_atomically(own_ / "rerank.json", "{\"models\": 3}");
  EXPECT_THAT(message_of<Error>([&] { read_reranking(own_); }), HasSubstr("tune again"));
  const auto french = model("french", test::kTinyTransformer, "en", "fr");
  EXPECT_THAT(message_of<Error>([&] { Reranker({.models = {{french}}}, models_.first(), "cpu"); }),
              HasSubstr("translates from en to fr, and "));
  auto options = models_.options();
  EXPECT_EQ(options_for_reranking(options).search.n_best, 2);
  options.search.beam_size = 1;
  EXPECT_THAT(message_of<Error>([&] { options_for_reranking(options); }), HasSubstr("--beam-size 2 or more"));
}

}  // namespace
}  // namespace nmt::reranking_test
