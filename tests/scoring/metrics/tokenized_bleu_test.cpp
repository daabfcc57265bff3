// Figures of tokenized_bleu_golden.py, beside this file.
#include "scoring/metrics/tokenized_bleu.h"

#include <gtest/gtest.h>

#include "scoring/corpus/corpus_score.h"

namespace nmt::scoring::tokenized_bleu_test {
namespace {

using Lines = std::vector<std::string>;

const Lines kEnglish = {"The dog doesn't bark, said Dr. Jones.", "It costs $1,000.50 & more!", "we are HERE"};
const Lines kGerman = {"Am 3. Mai sagte er: \"Das ist's.\"", "Es kostet 1.000,50 Euro (z.B. hier).", "wir sind HIER"};
const Lines kEnglishReference = {"the dog does not bark, said Dr. Jones.", "It costs $1,000.50 and more!",
                                 "We are here now"};
const Lines kGermanReference = {"Am 3. Mai sagte er: \"Das ist es.\"", "Es kostet 1.000,50 Euro (z.B. dort).",
                                "Wir sind jetzt hier"};

std::string line_of(MosesLanguage language, bool lowercase) {
  const bool german = language == MosesLanguage::kGerman;
  return score_corpus(TokenizedBleu(language, lowercase), german ? kGerman : kEnglish,
                      References{german ? kGermanReference : kEnglishReference})
      .format({.width = 4});
}

TEST(TokenizedBleu, IsSacrebleuWithoutTokenisationOnMosesTokens) {
  EXPECT_EQ(line_of(MosesLanguage::kEnglish, false),
            "tokenised BLEU|nrefs:1|case:mixed|eff:no|tok:moses-en|smooth:exp|version:2.6.0 = 46.6317 "
            "70.0/52.9/42.9/36.4 (BP = 0.951 ratio = 0.952 hyp_len = 20 ref_len = 21)");
  EXPECT_EQ(line_of(MosesLanguage::kEnglish, true),
            "lower-case tokenised BLEU|nrefs:1|case:lc|eff:no|tok:moses-en|smooth:exp|version:2.6.0 = 54.6679 "
            "85.0/70.6/50.0/36.4 (BP = 0.951 ratio = 0.952 hyp_len = 20 ref_len = 21)");
  EXPECT_EQ(line_of(MosesLanguage::kGerman, false),
            "tokenised BLEU|nrefs:1|case:mixed|eff:no|tok:moses-de|smooth:exp|version:2.6.0 = 63.6187 "
            "79.2/66.7/61.1/60.0 (BP = 0.959 ratio = 0.960 hyp_len = 24 ref_len = 25)");
  EXPECT_EQ(line_of(MosesLanguage::kGerman, true),
            "lower-case tokenised BLEU|nrefs:1|case:lc|eff:no|tok:moses-de|smooth:exp|version:2.6.0 = 66.3655 "
            "87.5/71.4/61.1/60.0 (BP = 0.959 ratio = 0.960 hyp_len = 24 ref_len = 25)");
}

TEST(TokenizedBleu, TakesSeveralReferencesAndResamples) {
  const TokenizedBleu metric(MosesLanguage::kEnglish, true);
  const Score score = score_corpus(metric, kEnglish, References{kEnglishReference, kEnglish}, {.bootstrap = 100});
  EXPECT_NEAR(score.score, 100, 1e-9);
  ASSERT_TRUE(score.confidence);
  EXPECT_GT(score.confidence->mean, 90);  // some resamples have no sentence with n-grams of order 4
}

}  // namespace
}  // namespace nmt::scoring::tokenized_bleu_test
