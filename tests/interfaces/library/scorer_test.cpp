#include "nmt/scorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <cstdint>

#include "scoring/corpus/corpus_score.h"
#include "scoring/metrics/bleu.h"
#include "support.h"

namespace nmt::api_scorer_test {
namespace {

using api::Scorer;
using test::message_of;
using testing::HasSubstr;

const std::vector<std::string> kHypotheses = {"the cat sat on the mat", "a dog barks at night"};
const api::References kReferences = {{"the cat sat on a mat", "the dog barks at night"}};

TEST(ApiScorer, HasTheFiguresOfTheMetrics) {
  const auto expected = scoring::score_corpus(scoring::Bleu(), kHypotheses, kReferences);
  const auto score = Scorer(api::BleuOptions()).corpus_score(kHypotheses, kReferences);
  EXPECT_EQ(score.score, expected.score);
  EXPECT_EQ(score.text, expected.format());
  EXPECT_EQ(score.json, expected.format_json());
  EXPECT_EQ(score.signature, "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_EQ(score.precisions, expected.precisions);
  EXPECT_EQ(score.counts, expected.correct);
  EXPECT_EQ(score.system_length, 11);
  const auto ter = Scorer(api::TerOptions()).corpus_score(kHypotheses, kReferences);
  EXPECT_EQ(ter.edits, 2);
  EXPECT_EQ(ter.reference_words, 11);
  EXPECT_EQ(Scorer(api::ChrfOptions{.word_order = 2}).corpus_score(kHypotheses, kReferences).name, "chrF2++");
  EXPECT_EQ(Scorer(api::ChrfOptions{.word_order = 2}).name(), "chrF2++");
}

TEST(ApiScorer, ScoresSentencesAndMissingReferences) {
  const Scorer bleu{api::BleuOptions()};
  EXPECT_EQ(bleu.sentence_score(kHypotheses[0], {kReferences[0][0]}).score,
            scoring::score_sentence(scoring::Bleu(), kHypotheses[0], std::vector{kReferences[0][0]}).score);
  api::OptionalReferences some(2);
  some[0] = {kReferences[0][0], kReferences[0][1]};
  some[1] = {std::nullopt, "a dog barks at night"};
  const auto score = bleu.corpus_score_optional(kHypotheses, some);
  EXPECT_THAT(score.signature, HasSubstr("nrefs:var"));
  EXPECT_GT(score.score, bleu.corpus_score(kHypotheses, kReferences).score);
}

TEST(ApiScorer, ComparesSystems) {
  api::CorpusOptions options;
  options.bootstrap = 100;
  const auto score = Scorer(api::BleuOptions()).corpus_score(kHypotheses, kReferences, options);
  ASSERT_TRUE(score.confidence.has_value());
  EXPECT_THAT(score.signature, HasSubstr("bs:100"));
  const auto table = api::paired_test({kHypotheses, kReferences[0]}, kReferences,
                                      {Scorer(api::BleuOptions()), Scorer(api::ChrfOptions())}, {.samples = 100});
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[1].metric, "chrF2");
  ASSERT_EQ(table[0].results.size(), 2u);
  EXPECT_FALSE(table[0].results[0].p_value.has_value());
  EXPECT_TRUE(table[0].results[1].p_value.has_value());
  EXPECT_NEAR(table[0].results[1].score, 100, 1e-9);
}

TEST(ApiScorer, StaysWhereItIsMovedFrom) {
  Scorer one{api::BleuOptions()};
  const auto other = std::move(one);
  EXPECT_EQ(one.name(), other.name());  // NOLINT(bugprone-use-after-move)
}

TEST(ApiScorer, SaysWhatIsWrong) {
  const auto bleu_message = [](const api::BleuOptions& options) {
    return message_of<api::UserError>([&] { Scorer{options}; });
  };
  EXPECT_THAT(bleu_message({.tokenizer = "14a"}), HasSubstr("14a"));
  EXPECT_THAT(bleu_message({.smooth_method = "more"}), HasSubstr("one of none, floor"));
  EXPECT_THAT(bleu_message({.max_ngram_order = 0}), HasSubstr("max_ngram_order 0"));
  EXPECT_THAT(bleu_message({.max_ngram_order = 2'000'000'000}), HasSubstr("use 1 to 1000"));
  EXPECT_THAT(bleu_message({.smooth_method = "floor", .smooth_value = HUGE_VAL}), HasSubstr("smooth_value inf"));
  EXPECT_THAT(bleu_message({.smooth_method = "floor", .smooth_value = std::nan("")}), HasSubstr("smooth_value nan"));
  EXPECT_EQ(bleu_message({.smooth_method = "add-k", .smooth_value = -5}),
            "smooth_value -5: use a number from 0 to 1e+30");
  const auto chrf_message = [](const api::ChrfOptions& options) {
    return message_of<api::UserError>([&] { Scorer{options}; });
  };
  EXPECT_THAT(chrf_message({.char_order = 0}), HasSubstr("n-grams"));
  EXPECT_THAT(chrf_message({.word_order = 2'000'000'000}), HasSubstr("at most 1000"));
  EXPECT_THAT(chrf_message({.char_order = INT_MAX, .word_order = INT_MAX}), HasSubstr("at most 1000"));
  EXPECT_THAT(chrf_message({.char_order = -1, .word_order = INT_MAX}), HasSubstr("at most 1000"));
  EXPECT_EQ(chrf_message({.beta = -1}), "beta -1: use 0 or more");
  const Scorer bleu{api::BleuOptions()};
  message_of<api::UserError>([&] { bleu.corpus_score(kHypotheses, {{"one"}, {"two"}}); });
  message_of<api::UserError>([&] { bleu.corpus_score({}, kReferences); });
  message_of<api::UserError>([&] { bleu.corpus_score(kHypotheses, api::References()); });
  message_of<api::UserError>([&] { bleu.sentence_score("a", {}); });
  message_of<api::UserError>([&] { bleu.corpus_score({"\xFF", "b"}, kReferences); });
  message_of<api::UserError>([&] { api::paired_test({kHypotheses}, kReferences, {bleu}); });
}

TEST(ApiScorer, SaysWhatIsWrongWithResamples) {
  const Scorer bleu{api::BleuOptions()};
  const auto message = [&](const api::CorpusOptions& options) {
    return message_of<api::UserError>([&] { bleu.corpus_score(kHypotheses, kReferences, options); });
  };
  EXPECT_EQ(message({.bootstrap = 10, .seed = "x\ny\xFF"}), "seed 'x?y?': give a whole number from 0 on, or none");
  EXPECT_EQ(message({.seed = "-1"}), "seed '-1': give a whole number from 0 on, or none");
  EXPECT_EQ(message({.bootstrap = INT64_MAX}),
            "bootstrap 9223372036854775807: use 2 to 1000000 resamples, or 0 for none");
  EXPECT_THAT(message({.bootstrap = 1}), HasSubstr("bootstrap 1: use 2"));
  const auto paired_message = [&](const std::vector<Scorer>& scorers, const api::PairedTestOptions& options) {
    return message_of<api::UserError>([&] {
      api::paired_test({kHypotheses, kReferences[0]}, kReferences, scorers, options);
    });
  };
  for (const bool shuffles : {false, true})
    EXPECT_EQ(paired_message({}, {.approximate_randomization = shuffles}),
              "paired test: there are no metrics; give one or more");
  EXPECT_EQ(paired_message({bleu}, {.samples = -1}), "samples -1: use 1 to 1000000, or 0 for as many as by default");
  EXPECT_THAT(paired_message({bleu}, {.samples = INT64_MAX}), HasSubstr("use 1 to 1000000"));
  EXPECT_THAT(paired_message({bleu}, {.seed = "many"}), HasSubstr("seed 'many': give a whole number"));
}

}  // namespace
}  // namespace nmt::api_scorer_test
