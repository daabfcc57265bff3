#include "scoring/metrics/bleu.h"

#include <cmath>

#include "base/error.h"
#include "scoring/vectors.h"
#include "support.h"

namespace nmt::scoring::bleu_test {
namespace {

using namespace test;
using nmt::test::message_of;
using Counts = std::vector<double>;

struct CorpusCase {
  std::string name;
  BleuOptions options;
  double score;
  Counts correct = {}, total = {};
};

class BleuOfThreeLines : public ::testing::TestWithParam<CorpusCase> {};

TEST_P(BleuOfThreeLines, EqualsSacrebleu) {
  const auto& [name, options, expected, correct, total] = GetParam();
  const Score score = score_corpus(Bleu(options), kThreeHypotheses, kThreeReferences);
  EXPECT_NEAR(score.score, expected, kPointTolerance);
  EXPECT_TRUE(correct.empty() || score.correct == correct);
  EXPECT_TRUE(total.empty() || score.total == total);
}

INSTANTIATE_TEST_SUITE_P(
    Vectors, BleuOfThreeLines,
    ::testing::Values(CorpusCase{"13a", {}, 48.530827009929865, {14, 7, 5, 3}, {17, 14, 11, 8}},
                      CorpusCase{"zh", {.tokenizer = "zh"}, 48.530827009929865, {14, 7, 5, 3}, {17, 14, 11, 8}},
                      CorpusCase{"intl", {.tokenizer = "intl"}, 43.91623493336995, {}, {19, 16, 13, 10}},
                      CorpusCase{"char", {.tokenizer = "char"}, 72.61064153440596},
                      CorpusCase{"char_lowercase", {.tokenizer = "char", .lowercase = true}, 72.26568811456055},
                      CorpusCase{"none", {.tokenizer = "none"}, 49.1919566004728, {10, 6, 4, 2}, {14, 11, 8, 5}}),
    [](const auto& info) { return info.param.name; });

TEST(Bleu, TellsLengthsPrecisionsAndBrevityPenalty) {
  const Score score = score_corpus(Bleu(), kThreeHypotheses, kThreeReferences);
  EXPECT_NEAR(score.brevity_penalty, 0.9428731438548749, 1e-15);
  EXPECT_EQ(score.hypothesis_length, 17);
  EXPECT_EQ(score.reference_length, 18);
  ASSERT_EQ(score.precisions.size(), 4u);
  EXPECT_NEAR(score.precisions[0], 100.0 * 14 / 17, kPointTolerance);
  EXPECT_NEAR(score.precisions[3], 100.0 * 3 / 8, kPointTolerance);
}

TEST(Bleu, PrintsTheLineOfSacrebleu) {
  const Score score = score_corpus(Bleu(), kThreeHypotheses, kThreeReferences);
  EXPECT_EQ(
      score.format({.width = 1}),
      "BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 48.5 82.4/50.0/45.5/37.5 (BP = 0.943 ratio "
      "= 0.944 hyp_len = 17 ref_len = 18)");
  EXPECT_EQ(score.format({.width = 4, .score_only = true}), "48.5308");
}

TEST(Bleu, CountsUpToAnyOrder) {
  const double expected[] = {77.65, 60.50, 53.93, 48.53, 46.14, 43.28};  // printed with two digits
  for (int order = 1; order <= 6; ++order) {
    const double score = score_corpus(Bleu({.max_order = order}), kThreeHypotheses, kThreeReferences).score;
    EXPECT_NEAR(score, expected[order - 1], 0.005) << "order " << order;
  }
}

TEST(Bleu, IsZeroForEmptyHypotheses) {
  EXPECT_EQ(score_corpus(Bleu(), std::vector<std::string>(3), kThreeReferences).score, 0.0);
}

TEST(Bleu, IsZeroForACorpusShorterThanItsLongestOrder) {
  // Without effective order, 4-grams that cannot be are zero.
  EXPECT_EQ(
      score_corpus(Bleu({.smoothing = BleuSmoothing::kNone}), std::vector<std::string>{"a b c"}, {{"a b c"}}).score,
      0.0);
}

struct SentenceCase {
  std::string name;
  BleuOptions options;
  double score;
  Counts correct = {}, total = {};
};

class BleuOfASentence : public ::testing::TestWithParam<SentenceCase> {};

TEST_P(BleuOfASentence, EqualsSacrebleu) {
  const auto& [name, options, expected, correct, total] = GetParam();
  const Score score = score_sentence(Bleu(options), kSugar, kSugarReference);
  EXPECT_NEAR(score.score, expected, kPointTolerance);
  EXPECT_TRUE(correct.empty() || score.correct == correct);
  EXPECT_TRUE(total.empty() || score.total == total);
}

INSTANTIATE_TEST_SUITE_P(
    Vectors, BleuOfASentence,
    ::testing::Values(
        SentenceCase{"exp", {}, 8.493098745313143},
        SentenceCase{"unsmoothed", {.smoothing = BleuSmoothing::kNone}, 0.0},
        SentenceCase{"floor", {.smoothing = BleuSmoothing::kFloor}, 4.516881220954753},
        SentenceCase{"floor_half", {.smoothing = BleuSmoothing::kFloor, .smoothing_value = 0.5}, 10.100053456347073},
        SentenceCase{"add_1", {.smoothing = BleuSmoothing::kAddK}, 14.882560178972215, {5, 3, 1, 1}, {14, 14, 13, 12}},
        SentenceCase{"add_2", {.smoothing = BleuSmoothing::kAddK, .smoothing_value = 2}, 21.389460275371086},
        SentenceCase{"untokenized", {.tokenizer = "none"}, 7.347053125977879},
        SentenceCase{"intl", {.tokenizer = "intl"}, 8.493098745313143},
        SentenceCase{"char", {.tokenizer = "char"}, 40.875973647629166},
        SentenceCase{"char_lowercase", {.tokenizer = "char", .lowercase = true}, 42.026782064102996}),
    [](const auto& info) { return info.param.name; });

TEST(Bleu, OfTinySentencesEqualsSacrebleu) {
  struct Case {
    std::string hypothesis, reference;
    double score;
  };
  for (const auto& [hypothesis, reference, expected] :
       {Case{"the the the the", "the cat", 15.97357760615681}, Case{"a b c", "a b c d", 71.65313105737896},
        Case{"", "x", 0}, Case{"x", "", 0}, Case{"", "", 0},
        Case{"Hello there.", "Hello there .", 100.00000000000004}}) {
    EXPECT_NEAR(score_sentence(Bleu(), hypothesis, std::vector{reference}).score, expected, kPointTolerance)
        << "'" << hypothesis << "' / '" << reference << "'";
  }
  EXPECT_EQ(score_sentence(Bleu(), "x", std::vector<std::string>{""}).brevity_penalty, 1.0);
}

/// Tokenised text as it stands, floor smoothing, effective order: sacreBLEU's raw_corpus_bleu.
Score raw_bleu(const std::string& hypothesis, const std::string& reference, double floor) {
  const Bleu bleu(
      {.tokenizer = "none", .smoothing = BleuSmoothing::kFloor, .smoothing_value = floor, .effective_order = true});
  return score_corpus(bleu, std::vector{hypothesis}, {{reference}});
}

TEST(Bleu, OfRawTextEqualsSacrebleu) {
  EXPECT_NEAR(raw_bleu("this is a test", "this is a test", 0.01).score, 100, kPointTolerance);
  EXPECT_NEAR(raw_bleu("this is a fest", "this is a test", 0.01).score, 22.3606797749979, kPointTolerance);
  EXPECT_NEAR(raw_bleu("test", "a test", 0.01).score, 36.78794411714425, kPointTolerance);
  EXPECT_NEAR(raw_bleu("a little test", "a test", 0.01).score, 3.218297948685433, kPointTolerance);
  const std::string hypothesis = "am I am a character sequence", reference = "I am a symbol string sequence a a";
  const Score score = raw_bleu(hypothesis, reference, 0.1);
  EXPECT_NEAR(score.score, 15.55722182, 1e-8);
  EXPECT_EQ(score.correct, (Counts{4, 2, 1, 0}));
  EXPECT_EQ(score.total, (Counts{6, 5, 4, 3}));
  EXPECT_EQ(raw_bleu(hypothesis, reference, 0).score, 0.0);
}

TEST(Bleu, OfCountsEqualsSacrebleu) {
  const Bleu bleu({.smoothing = BleuSmoothing::kNone});
  EXPECT_NEAR(bleu.score_of(Counts{11, 11, 9, 7, 5, 3, 10, 8, 6, 4}).score, 83.75922397, 1e-8);
}

TEST(Bleu, TakesTheClosestReferenceLengthAndOfTwoTheShorter) {
  const Score score = score_sentence(Bleu(), "a b c", std::vector<std::string>{"a b c d", "a b", "a b c d e f"});
  EXPECT_EQ(score.reference_length, 2);
}

TEST(Bleu, SaysHowManyReferencesThereWere) {
  const OptionalReferences references = {{"a b", "c"}, {"a", std::nullopt}};
  const std::vector<std::string> hypotheses = {"a b", "c"};
  const Bleu bleu;
  const Score varying = score_corpus_optional(bleu, hypotheses, references);
  EXPECT_EQ(varying.signature->text(), "nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  // An empty reference is one.
  const Score fixed = score_corpus_optional(bleu, hypotheses, OptionalReferences{{"a b", "c"}, {"a", ""}});
  EXPECT_EQ(fixed.signature->fields().front().value, "2");
}

TEST(Bleu, BootstrapEqualsSacrebleu) {
  const Bleu bleu;
  const Score thousand = score_corpus(bleu, kThreeHypotheses, kThreeReferences, {.bootstrap = 1000});
  EXPECT_NEAR(thousand.confidence->mean, 46.95974802546285, kResampleTolerance);
  EXPECT_NEAR(thousand.confidence->half_width, 46.75499683004279, kResampleTolerance);
  const Score hundred = score_corpus(bleu, kThreeHypotheses, kThreeReferences, {.bootstrap = 100});
  EXPECT_NEAR(hundred.confidence->mean, 48.93847064565444, kResampleTolerance);
  EXPECT_EQ(
      thousand.format({.width = 1}),
      "BLEU|nrefs:2|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 48.5 (μ = 47.0 ± 46.8) "
      "82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)");
}

TEST(Bleu, SignsEveryOption) {
  const auto signature = [](const BleuOptions& options) { return Bleu(options).signature({.references = 1}); };
  EXPECT_EQ(signature({.smoothing = BleuSmoothing::kFloor}).text(),
            "nrefs:1|case:mixed|eff:no|tok:13a|smooth:floor[0.10]|version:2.6.0");
  EXPECT_EQ(signature({.smoothing = BleuSmoothing::kAddK}).text(),
            "nrefs:1|case:mixed|eff:no|tok:13a|smooth:add-k[1.00]|version:2.6.0");
  EXPECT_EQ(
      signature({.tokenizer = "intl", .lowercase = true, .smoothing = BleuSmoothing::kNone, .effective_order = true})
          .short_text(),
      "#:1|c:lc|e:yes|tok:intl|s:none|v:2.6.0");
}

TEST(Bleu, AddsTruncatedValuesToTheWholeCountsOfTrials) {
  // NumPy stores count + 1.5 into an array of integers.
  const Bleu bleu({.smoothing = BleuSmoothing::kAddK, .smoothing_value = 1.5});
  const Bleu with_one({.smoothing = BleuSmoothing::kAddK, .smoothing_value = 1});
  const Counts sums = {9, 9, 7, 5, 3, 1, 9, 8, 7, 6};
  EXPECT_EQ(bleu.score_of_trial(sums), with_one.score_of(sums).score);
  EXPECT_NE(bleu.score_of(sums).score, with_one.score_of(sums).score);
}

TEST(Bleu, RefusesWhatItCannotScore) {
  const std::vector<std::string> one = {"a"}, none, bad = {"a\xFF"};
  const Bleu bleu;
  EXPECT_EQ(message_of<Error>([&] { score_corpus(bleu, none, {none}); }), "scoring: there are no hypotheses");
  EXPECT_EQ(message_of<Error>([&] { score_corpus(bleu, one, {}); }), "scoring: there are no references");
  EXPECT_EQ(message_of<Error>([&] {
              score_corpus(bleu, one, {{"a", "b"}});
            }),
            "scoring: 1 hypotheses, but 2 references; both need one line a segment");
  EXPECT_EQ(message_of<Error>([&] { score_corpus(bleu, bad, {one}); }),
            "scoring: hypotheses, line 1: not UTF-8 at byte 2");
  EXPECT_EQ(message_of<Error>([&] { score_corpus_optional(bleu, one, OptionalReferences{{std::nullopt}}); }),
            "segment 1: no reference");
  EXPECT_EQ(message_of<Error>([] { Bleu({.max_order = 0}); }), "BLEU: max_order 0: at least 1");
}

TEST(Bleu, GivesTheSameFiguresOnAnyNumberOfThreads) {
  std::vector<std::string> hypotheses, references;
  for (int i = 0; i < 1000; ++i) {
    hypotheses.push_back("the cat " + std::to_string(i % 7) + " sat on mat " + std::to_string(i % 11));
    references.push_back("the cat " + std::to_string(i % 5) + " sat on the mat " + std::to_string(i % 11));
  }
  const auto score = [&](int threads) {
    return score_corpus(Bleu(), hypotheses, {references}, {.threads = threads, .bootstrap = 50}).format({.width = 15});
  };
  EXPECT_EQ(score(1), score(2));
  EXPECT_EQ(score(1), score(7));
}

}  // namespace
}  // namespace nmt::scoring::bleu_test
