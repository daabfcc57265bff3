#include "scoring/metrics/ter.h"

#include "scoring/vectors.h"
#include "support.h"

namespace nmt::scoring::ter_test {
namespace {

using namespace test;

Score sentence_ter(const std::string& hypothesis, const std::vector<std::string>& references,
                   const TerOptions& options = {}) {
  return score_sentence(Ter(options), hypothesis, references);
}

struct TerCase {
  std::string hypothesis;
  std::vector<std::string> references;
  double score, edits;
};

class TerOfASentence : public ::testing::TestWithParam<TerCase> {};

TEST_P(TerOfASentence, EqualsSacrebleu) {
  const auto& [hypothesis, references, expected, edits] = GetParam();
  const Score score = sentence_ter(hypothesis, references);
  EXPECT_NEAR(score.score, expected, kPointTolerance);
  EXPECT_EQ(score.edits, edits);
}

INSTANTIATE_TEST_SUITE_P(
    Vectors, TerOfASentence,
    ::testing::Values(TerCase{"aaaa bbbb cccc dddd", {"aaaa bbbb cccc dddd"}, 0, 0},
                      TerCase{"dddd eeee ffff", {"aaaa bbbb cccc"}, 100, 3}, TerCase{"", {"a"}, 100, 1},
                      TerCase{"d e f g h a b c", {"a b c d e f g h"}, 12.5, 1}, TerCase{"c a b d", {"a b c d"}, 25, 1},
                      TerCase{"e d c b a", {"a b c d e"}, 80, 4},
                      TerCase{"the quick brown fox jumps over the lazy dog",
                              {"the lazy dog jumps over the quick brown fox"},
                              22.22222222222222,
                              2},
                      TerCase{"b c a x y z a b c", {"a b c x y z b c a"}, 22.22222222222222, 2},
                      TerCase{"a b c d", {"a b c", "a b c d e", "x a b c d y z"}, 20, 1},
                      TerCase{"the the the the", {"the cat"}, 150, 3}, TerCase{"a b c", {"a b c d"}, 25, 1},
                      TerCase{"", {"x"}, 100, 1}, TerCase{"x", {""}, 100, 1}, TerCase{"", {""}, 0, 0},
                      TerCase{"Hello there.", {"Hello there ."}, 66.66666666666666, 2}));

TEST(Ter, OfThreeLinesEqualsSacrebleu) {
  const Score plain = score_corpus(Ter(), kThreeHypotheses, kThreeReferences);
  EXPECT_NEAR(plain.score, 40.0, kPointTolerance);
  EXPECT_EQ(plain.edits, 6);
  EXPECT_EQ(plain.reference_words, 15);
  const Score normalized = score_corpus(Ter({.normalized = true}), kThreeHypotheses, kThreeReferences);
  EXPECT_NEAR(normalized.score, 33.33333333333333, kPointTolerance);
  EXPECT_EQ(normalized.edits, 6);
  EXPECT_EQ(normalized.reference_words, 18);
  EXPECT_NEAR(score_corpus(Ter({.no_punctuation = true}), kThreeHypotheses, kThreeReferences).score, 40.0,
              kPointTolerance);
}

TEST(Ter, BootstrapEqualsSacrebleu) {
  const Score score = score_corpus(Ter(), kThreeHypotheses, kThreeReferences, {.bootstrap = 1000});
  EXPECT_NEAR(score.confidence->mean, 41.2349, 5e-5);  // printed with four digits
  EXPECT_NEAR(score.confidence->half_width, 37.5, kResampleTolerance);
}

TEST(Ter, OfTokenizedGermanEqualsSacrebleu) {
  const Score score = score_corpus(Ter(), kDialogHypotheses, kDialogReferences);
  EXPECT_NEAR(score.score, 13.600000000000001, kPointTolerance);
  EXPECT_EQ(score.edits, 17);
  EXPECT_EQ(score.reference_words, 125);
  const std::pair<double, double> lines[] = {{10, 31}, {0, 24}, {2, 31}, {5, 19}, {0, 20}};
  for (size_t i = 0; i < 5; ++i) {
    const Score line = sentence_ter(kDialogHypotheses[i], {kDialogReferences[0][i]});
    EXPECT_EQ(std::pair(line.edits, line.reference_words), lines[i]) << "line " << i + 1;
  }
}

/// "w0 w3 ..." of numbers.
template <typename F>
std::string words_of(int count, F number) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "w" + std::to_string(number(i)) + " ";
  return text;
}

TEST(Ter, StopsAtTheLimitsOfTheShiftSearch) {
  EXPECT_EQ(
      sentence_ter(words_of(60, [](int i) { return i % 7; }), {words_of(55, [](int i) { return 3 * i % 7; })}).edits,
      49);
  EXPECT_EQ(sentence_ter(words_of(120, [](int i) { return i * i % 23; }),
                         {words_of(100, [](int i) { return (i * i + 5) % 23; })})
                .edits,
            104);
}

TEST(Ter, IgnoresCaseUnlessAsked) {
  EXPECT_EQ(sentence_ter("The CAT", {"the cat"}).edits, 0);
  EXPECT_EQ(sentence_ter("The CAT", {"the cat"}, {.case_sensitive = true}).edits, 2);
}

TEST(Ter, NormalizesReferencesTwiceAsSacrebleu) {
  // "it's," is "it's ," after the first time and "it 's ," after the second; hypotheses are prepared once.
  const Score score = sentence_ter("it's, so", {"it's, so"}, {.normalized = true});
  EXPECT_EQ(score.edits, 2);
  EXPECT_EQ(score.reference_words, 4);
}

TEST(Ter, SignsEveryOption) {
  const SignatureFacts facts{.references = 1};
  EXPECT_EQ(Ter().signature(facts).text(), "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0");
  EXPECT_EQ(Ter({.normalized = true, .no_punctuation = true, .asian_support = true, .case_sensitive = true})
                .signature(facts)
                .short_text(),
            "#:1|c:mixed|t:tercom|nr:yes|pn:no|as:yes|v:2.6.0");
}

}  // namespace
}  // namespace nmt::scoring::ter_test
