#include "report/html/translation_quality.h"

#include <gmock/gmock.h>

namespace nmt::translation_quality_test {
namespace {

using testing::ElementsAre;

using Texts = std::vector<std::string>;

TEST(SentenceChrf, IsThatOfEachSentence) {
  // sacrebleu 2.6.0: CHRF().sentence_score("dog A .", ["A dog ."])
  const auto scores = sentence_chrf(Texts{"A dog runs .", "dog A .", "x"}, Texts{"A dog runs .", "A dog .", "yes"});
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_DOUBLE_EQ(scores[0], 100);
  EXPECT_NEAR(scores[1], 36.666666666666664, 1e-9);
  EXPECT_EQ(scores[2], 0);
}

std::string words(int64_t count) {
  std::string text = "one";
  for (int64_t i = 1; i < count; ++i) text += " w" + std::to_string(i);
  return text;
}

TEST(ScoresByLength, PutEachSentenceIntoTheClassOfItsSource) {
  Texts sources, references, hypotheses;
  for (const int64_t length : {1, 5, 6, 10, 11, 61, 99}) {
    sources.push_back(words(length));
    references.push_back("the same words here");
    hypotheses.push_back(length < 61 ? "the same words here" : "nothing of that kind");
  }
  const auto classes = scores_by_length(sources, references, hypotheses);
  ASSERT_EQ(classes.size(), 4u);
  EXPECT_THAT(std::vector({classes[0].min, classes[0].max, classes[0].sentences}), ElementsAre(0, 5, 2));
  EXPECT_THAT(std::vector({classes[1].min, classes[1].max, classes[1].sentences}), ElementsAre(6, 10, 2));
  EXPECT_THAT(std::vector({classes[2].min, classes[2].max, classes[2].sentences}), ElementsAre(11, 15, 1));
  EXPECT_THAT(std::vector({classes[3].min, classes[3].max, classes[3].sentences}), ElementsAre(61, 0, 2));
  EXPECT_NEAR(classes[0].bleu, 100, 1e-9);
  EXPECT_NEAR(classes[0].chrf, 100, 1e-9);
  EXPECT_EQ(classes[3].bleu, 0);
  EXPECT_LT(classes[3].chrf, 30);
}

TEST(BestAndWorst, AreTheHighestAndTheLowest) {
  const std::vector<double> scores = {50, 100, 0, 100, 30};
  const Texts references = {"a", "b", "c", "longer", "e"};
  const auto [best, worst] = best_and_worst(scores, references, 3);
  EXPECT_THAT(best, ElementsAre(3, 1, 0));
  EXPECT_THAT(worst, ElementsAre(2, 4, 0));
  EXPECT_EQ(best_and_worst(scores, references, 9).best.size(), 5u);
}

}  // namespace
}  // namespace nmt::translation_quality_test
