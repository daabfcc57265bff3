#include "evaluation/rerank_tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluation/tiny_model.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/metrics/bleu.h"
#include "support.h"

namespace nmt::rerank_tuning_test {
namespace {

/// Lines whose right candidate has the better second feature, but for one line, in which the first feature has a say.
std::vector<std::vector<Candidate>> lines() {
  return {{{"a b c x", -1.0, {-3, -2}}, {"a b c d", -1.4, {-3, -1}}},
          {{"e f g h", -1.0, {-2, -1.2}}, {"e f x h", -1.1, {-3, -1}}},
          {{"i j k x", -1.2, {-4, -2}}, {"i j k l", -1.3, {-4, -1.5}}, {"i x k x", -1.4, {-5, -1.5}}},
          {{"m n o p", -1.0, {-1, -1}}}};
}
const scoring::References kReferences = {{"a b c d", "e f g h", "i j k l", "m n o p"}};
constexpr double kSteps[] = {0.05, 0.05};

double corpus_score(const scoring::Metric& metric, const std::vector<double>& weights) {
  std::vector<std::string> chosen;
  for (const auto& line : lines()) {
    const Candidate* best = nullptr;
    double best_sum = 0;
    for (const auto& one : line) {
      const double sum = one.score + weights[0] * one.features[0] + weights[1] * one.features[1];
      if (!best || sum > best_sum) best = &one, best_sum = sum;
    }
    chosen.push_back(best->text);
  }
  return scoring::score_corpus(metric, chosen, kReferences).score;
}

TEST(RerankTuning, FindsTheBestOfTheGrid) {
  const scoring::Bleu bleu{scoring::BleuOptions{}};
  const auto found = tune_weights(lines(), kReferences, bleu, kSteps);
  double best = 0;
  for (int i = -20; i <= 20; ++i)
    for (int j = -20; j <= 20; ++j) best = std::max(best, corpus_score(bleu, {0.05 * i, 0.05 * j}));
  EXPECT_DOUBLE_EQ(best, 100);
  EXPECT_LT(corpus_score(bleu, {0, 0}), 80);
  EXPECT_DOUBLE_EQ(corpus_score(bleu, found), best);
}

TEST(RerankTuning, LeavesTheSearchAloneWhereNothingIsGained) {
  std::vector<std::vector<Candidate>> right = lines();
  for (auto& line : right) line.resize(1);
  const scoring::Bleu bleu{scoring::BleuOptions{}};
  EXPECT_THAT(tune_weights(right, kReferences, bleu, kSteps), testing::ElementsAre(0, 0));
}

TEST(RerankTuning, WritesWeightsWithWhichTheTranslationsAreThoseThatItScored) {
  const test::TemporaryDirectory folder;
  const auto own = test::save_tiny_model(folder / "own", test::kTinyTransformer);
  const auto other = test::save_tiny_model(folder / "other", test::kTinyRecurrent, "", "en", "de");
  const ModelSet models(
      {.directories = {own}, .device = "cpu", .decoding = DecodingConfig{.beam_size = 6, .min_length = 5}});
  TestSet set{.source_file = "s", .sources = {"a b c", "h g f a", "", "d d e", "b"}};
  const Translator translator(models.members(), options_for_reranking(models.options()));
  auto& references = set.references.emplace_back();  // what a beam has at its end
  for (const auto& one : translator.translate(set.sources))
    references.push_back(one.alternatives.empty() ? "" : one.alternatives.back().text);
  const auto results = tune_reranking(models, set, {other}, "cpu", {});
  ASSERT_EQ(results.systems.size(), 2u);
  EXPECT_GT(results.systems[1].scores[0].score, results.systems[0].scores[0].score);
  const auto reranking = read_reranking(own);
  EXPECT_EQ(reranking.models[0].directory, "../other");
  const Reranker reranker(reranking, models.first(), "cpu");
  const auto again = translate_test_set(set, translator, "own", {}, &reranker);
  EXPECT_EQ(again.hypotheses, results.systems[1].output.hypotheses);
  EXPECT_NE(again.hypotheses, results.systems[0].output.hypotheses);
}

}  // namespace
}  // namespace nmt::rerank_tuning_test
