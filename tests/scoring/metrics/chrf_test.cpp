#include "scoring/metrics/chrf.h"

#include "scoring/vectors.h"
#include "support.h"

namespace nmt::scoring::chrf_test {
namespace {

using namespace test;

double corpus_chrf(const ChrfOptions& options, const std::vector<std::string>& hypotheses,
                   const std::vector<std::string>& references) {
  return score_corpus(Chrf(options), hypotheses, {references}).score;
}

double sentence_chrf(const ChrfOptions& options, const std::string& hypothesis, const std::string& reference) {
  return score_sentence(Chrf(options), hypothesis, std::vector{reference}).score;
}

TEST(Chrf, OfThreeLinesEqualsSacrebleu) {
  struct Case {
    ChrfOptions options;
    std::string name;
    double score;
  };
  for (const auto& [options, name, expected] :
       {Case{{}, "chrF2", 59.72751782684763}, Case{{.eps_smoothing = true}, "chrF2", 59.72734693786311},
        Case{{.word_order = 1}, "chrF2+", 60.838258037247364},
        Case{{.word_order = 1, .eps_smoothing = true}, "chrF2+", 60.82568742346534},
        Case{{.word_order = 2}, "chrF2++", 59.15310444399262},
        Case{{.word_order = 2, .eps_smoothing = true}, "chrF2++", 59.134638657694325}}) {
    const Score score = score_corpus(Chrf(options), kThreeHypotheses, kThreeReferences);
    EXPECT_EQ(score.name, name);
    EXPECT_NEAR(score.score, expected, kPointTolerance) << name;
  }
}

TEST(Chrf, BootstrapEqualsSacrebleu) {
  const Score score = score_corpus(Chrf(), kThreeHypotheses, kThreeReferences, {.bootstrap = 1000});
  EXPECT_NEAR(score.confidence->mean, 60.346878, kResampleTolerance);
  EXPECT_NEAR(score.confidence->half_width, 32.32682, kResampleTolerance);
}

TEST(Chrf, OfTinySentencesEqualsSacrebleu) {
  struct Case {
    std::string hypothesis, reference;
    double chrf, chrf_plus_plus;
  };
  for (const auto& [hypothesis, reference, chrf, plus_plus] :
       {Case{"the the the the", "the cat", 17.868921870125238, 18.613922384917213},
        Case{"a b c", "a b c d", 68.86227544910179, 71.42857142857142}, Case{"", "x", 0, 0}, Case{"x", "", 0, 0},
        Case{"", "", 0, 0}, Case{"Hello there.", "Hello there .", 100, 100}}) {
    EXPECT_NEAR(sentence_chrf({}, hypothesis, reference), chrf, kPointTolerance) << hypothesis;
    EXPECT_NEAR(sentence_chrf({.word_order = 2}, hypothesis, reference), plus_plus, kPointTolerance) << hypothesis;
  }
}

TEST(Chrf, WithBeta3EqualsSacrebleu) {
  struct Case {
    std::vector<std::string> hypotheses, references;
    double eps, effective;
  };
  const std::vector<Case> cases = {{{"aa"}, {"ab"}, 8.3333, 25},
                                   {{"a", "b"}, {"a", "c"}, 8.3333, 50},
                                   {{"a"}, {"a"}, 16.6667, 100},
                                   {{"a b c"}, {"abc"}, 50, 100},
                                   {{"abcdefg"}, {"hijklmnop"}, 0, 0}};
  for (const auto& [hypotheses, references, eps, effective] : cases) {
    EXPECT_NEAR(corpus_chrf({.beta = 3, .eps_smoothing = true}, hypotheses, references), eps, 5e-5) << hypotheses[0];
    EXPECT_NEAR(corpus_chrf({.beta = 3}, hypotheses, references), effective, kPointTolerance) << hypotheses[0];
  }
}

TEST(Chrf, OfCzechSentencesEqualsSacrebleu) {
  const std::string hypothesis = "Co nás nejvíc trápí, protože lékaři si vybírají, kdo bude žít a kdo zemře.";
  const std::string reference = "Nejvíce smutní jsme z toho, že musíme rozhodovat o tom, kdo bude žít a kdo zemře.";
  EXPECT_NEAR(sentence_chrf({.eps_smoothing = true}, hypothesis, reference), 39.14078509431498, kPointTolerance);
  EXPECT_NEAR(sentence_chrf({}, hypothesis, reference), 39.14081690316369, kPointTolerance);
  EXPECT_NEAR(sentence_chrf({.word_order = 2}, hypothesis, reference), 40.3769131075315, kPointTolerance);
  EXPECT_NEAR(sentence_chrf({.lowercase = true}, hypothesis, reference), 40.74201454351592, kPointTolerance);
  EXPECT_NEAR(sentence_chrf({.whitespace = true}, hypothesis, reference), 41.874722051767534, kPointTolerance);
  EXPECT_NEAR(sentence_chrf({.char_order = 4}, hypothesis, reference), 44.66747626205442, kPointTolerance);
  EXPECT_NEAR(sentence_chrf({.beta = 1}, hypothesis, reference), 40.09593491958186, kPointTolerance);
  EXPECT_NEAR(
      sentence_chrf({.eps_smoothing = true}, "Nebo prostě nemají vybavení, které by jim pomohlo, uvedli lékaři.",
                    "A někdy nemáme ani potřebný materiál, abychom jim pomohli, popsali lékaři."),
      31.22557079, 1e-8);
  EXPECT_NEAR(
      sentence_chrf({.eps_smoothing = true}, "Lapali po dechu, jejich životy skončily dřív, než skutečně začaly.",
                    "Lapali po dechu a pak jejich život skončil - dřív, než skutečně mohl začít, připomněli."),
      57.15704367, 1e-8);
}

TEST(Chrf, OfTokenizedGermanEqualsSacrebleu) {
  EXPECT_NEAR(score_corpus(Chrf({.word_order = 2}), kDialogHypotheses, kDialogReferences).score, 86.82401937939287,
              kPointTolerance);
}

// The counts of word unigrams show how words were split: matches of each part with itself.
TEST(Chrf, SplitsOnePunctuationMarkFromAWord) {
  const Chrf words({.char_order = 0, .word_order = 1});
  const auto unigrams = [&](const std::string& text) {
    const auto scorer = words.segment_scorer();
    const std::string_view view = text;
    scorer->set_references({&view, 1});
    std::vector<double> counts(3);
    scorer->statistics(text, counts);
    return counts[1];
  };
  EXPECT_EQ(unigrams("(hi)"), 2);   // (hi )
  EXPECT_EQ(unigrams("\"a,"), 2);   // "a ,
  EXPECT_EQ(unigrams("\"a"), 2);    // " a
  EXPECT_EQ(unigrams("..."), 2);    // .. .
  EXPECT_EQ(unigrams("don't"), 1);  //
  EXPECT_EQ(unigrams("x!"), 2);
  EXPECT_EQ(unigrams("é."), 2);
  EXPECT_EQ(unigrams("é"), 1);
  EXPECT_EQ(unigrams("!?"), 2);
  EXPECT_EQ(unigrams("(hi) \"a, b.\" ... don't x! é. !?"), 15);
}

TEST(Chrf, MatchesTheSplitPartsOfWords) {
  // "b.\"" is split into b. and ", "(hi)" into (hi and ): the words below are just those.
  const Chrf words({.char_order = 0, .word_order = 1});
  const Score score = score_sentence(words, "(hi) \"a, b.\" ... don't x! é. !?",
                                     std::vector<std::string>{"(hi ) \"a , b. \" .. . don't x ! é . ! ?"});
  // "(hi", "\"a", "b." and ".." of the reference are split again there; all else matches.
  EXPECT_GT(score.score, 60);
  EXPECT_LT(score.score, 100);
}

TEST(Chrf, TakesTheBestSingleReference) {
  const std::vector<std::string> references = {"abc", "abcd", "xyz"};
  EXPECT_EQ(score_sentence(Chrf(), "abcd", references).score, 100);
}

TEST(Chrf, CountsNoHypothesisNgramsOfAnOrderThatTheReferenceLacks) {
  const auto scorer = Chrf({.char_order = 3}).segment_scorer();
  const std::string_view reference = "ab";
  scorer->set_references({&reference, 1});
  std::vector<double> counts(9);
  scorer->statistics("abcd", counts);
  EXPECT_EQ(counts, (std::vector<double>{4, 2, 2, 3, 1, 1, 0, 0, 0}));
}

TEST(Chrf, SignsEveryOption) {
  const SignatureFacts facts{.references = 1};
  EXPECT_EQ(Chrf().signature(facts).text(), "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0");
  EXPECT_EQ(Chrf({.char_order = 4, .word_order = 2, .lowercase = true, .whitespace = true, .eps_smoothing = true})
                .signature(facts)
                .short_text(),
            "#:1|c:lc|e:no|nc:4|nw:2|s:yes|v:2.6.0");
}

}  // namespace
}  // namespace nmt::scoring::chrf_test
