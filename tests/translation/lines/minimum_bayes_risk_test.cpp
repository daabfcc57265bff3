#include "translation/lines/minimum_bayes_risk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "search/scripted_model.h"
#include "support.h"
#include "translation/translator.h"
#include "translation/word_tokenizer.h"

namespace nmt::minimum_bayes_risk_test {
namespace {

using test::Ids;
using test::message_of;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kTexts = {"A dog runs over the grass.", "A dog is running across the grass.",
                                         "The dog runs across a meadow.", "A cat sleeps.",
                                         "Über die Wiese läuft ein Hund."};
const std::vector<double> kWeights = {3, 2, 2, 1, 0.5};

// The figures are those of golden/expected_utilities.py.
TEST(ExpectedUtilities, AreTheMeansOfSacrebleuSentenceScores) {
  const auto near = [](double value) { return DoubleNear(value, 1e-9); };
  EXPECT_THAT(expected_utilities(kTexts, kWeights, RiskUtility::kChrf),
              ElementsAre(near(53.05767121340106), near(48.43507927964964), near(42.08669420833922),
                          near(17.55759050633469), near(13.22788766551691)));
  EXPECT_THAT(expected_utilities(kTexts, kWeights, RiskUtility::kBleu),
              ElementsAre(near(46.28937062834241), near(35.46002531124838), near(31.581541501320785),
                          near(18.795168012229226), near(11.857611656108157)));
}

std::vector<std::string> texts_of(const std::vector<Alternative>& alternatives) {
  std::vector<std::string> texts;
  for (const auto& one : alternatives) texts.push_back(one.text);
  return texts;
}

std::vector<std::string> ranked(std::vector<Alternative> alternatives, const DecodingConfig& decoding) {
  rank_by_risk(alternatives, {decoding});
  return texts_of(alternatives);
}

TEST(RankByRisk, SamplesWeighAsOftenAsTheyAreDrawn) {
  const DecodingConfig decoding{.beam_size = 1, .sampling = true, .mbr = RiskUtility::kChrf};
  EXPECT_THAT(ranked({{.text = "a cat"}, {.text = "red dogs"}, {.text = "red dogs"}}, decoding),
              ElementsAre("red dogs", "a cat"));
  EXPECT_THAT(ranked({{.text = "red dogs"}, {.text = "a cat"}, {.text = "a cat"}}, decoding),
              ElementsAre("a cat", "red dogs"));
}

TEST(RankByRisk, HypothesesOfABeamWeighByTheirProbability) {
  const DecodingConfig decoding{.mbr = RiskUtility::kChrf};
  const auto beam = [](double of_cat) {
    return std::vector<Alternative>{{.text = "a cat", .log_probability = std::log(of_cat)},
                                    {.text = "the dogs", .log_probability = std::log(0.2)},
                                    {.text = "the dog", .log_probability = std::log(0.2)}};
  };
  EXPECT_EQ(ranked(beam(0.3), decoding).front(), "the dogs");
  EXPECT_EQ(ranked(beam(0.6), decoding).front(), "a cat");
}

TEST(RankByRisk, WhatWasCutComesLast) {
  const DecodingConfig decoding{.beam_size = 1, .sampling = true, .mbr = RiskUtility::kChrf};
  EXPECT_THAT(ranked({{.text = "a cat"}, {.text = "the dog the", .finished = false}, {.text = "the dog"}}, decoding),
              ElementsAre("the dog", "a cat", "the dog the"));
}

/// "a" has probability 0.4; "c d", "c e" and "c f" 0.2 each.
std::vector<double> spread(const Ids& /*source*/, const Ids& prefix) {
  constexpr double kLittle = 1e-9;
  std::vector<double> p(4 + 6, kLittle);
  if (prefix.empty()) {
    p[test::kA] = 0.4;
    p[test::kC] = 0.6;
  } else if (prefix == Ids{test::kC}) {
    p[7] = p[8] = p[9] = 1.0 / 3;
  } else {
    p[test::kEnd] = 1;
  }
  return p;
}

class TranslatesByRisk : public testing::Test {
 protected:
  Translation translate(DecodingConfig decoding, int64_t n_best, const Request& request = {.source = "a"}) {
    TranslatorOptions options{.search = {decoding}};
    options.search.n_best = n_best;
    return Translator(model_, codec_, options).translate(std::vector{request}).front();
  }

  test::ScriptedModel model_{10, spread};
  TextCodec codec_ = test::word_codec({"a", "b", "cat", "dog", "dogs", "doggy"});
};

TEST_F(TranslatesByRisk, OfABeam) {
  DecodingConfig decoding{.beam_size = 4, .length_penalty = 0};
  EXPECT_EQ(translate(decoding, 1).text, "a");
  decoding.mbr = RiskUtility::kChrf;
  const auto best = translate(decoding, 1);
  EXPECT_THAT(best.text, HasSubstr("cat dog"));
  ASSERT_EQ(best.alternatives.size(), 1);
  EXPECT_GT(best.alternatives.front().expected_utility.value(), 40);
  EXPECT_EQ(translate(decoding, 3).alternatives.size(), 3);
  EXPECT_EQ(translate(decoding, 1, {.source = "a", .n_best = 2}).alternatives.size(), 2) << "as the request wants";
}

TEST_F(TranslatesByRisk, WordsThatContinueAPrefixDifferentlyKeepTheirOrder) {
  const DecodingConfig decoding{.beam_size = 2, .length_penalty = 0, .mbr = RiskUtility::kChrf};
  const auto found = translate(decoding, 1, {.source = "a", .n_best = 2, .distinct = true});
  EXPECT_EQ(found.text, "a") << "by probability";
  EXPECT_FALSE(found.alternatives.front().expected_utility);
}

TEST_F(TranslatesByRisk, OfSamples) {
  const DecodingConfig decoding{.beam_size = 1, .sampling = true, .mbr = RiskUtility::kBleu, .mbr_samples = 40};
  const auto found = translate(decoding, 4);
  EXPECT_EQ(found.alternatives.size(), 4) << "each text once";
  EXPECT_TRUE(found.alternatives.front().expected_utility);
  EXPECT_THAT(message_of<Error>([&] { translate(decoding, 41); }), HasSubstr("n-best 41: use 1 to 40"));
}

}  // namespace
}  // namespace nmt::minimum_bayes_risk_test
