// Figures of tokenized_bleu_golden.py, beside this file.
#include "scoring/metrics/tokenized_bleu.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "base/error.h"
#include "scoring/corpus/corpus_score.h"

namespace nmt::scoring::tokenized_bleu_test {
namespace {

using enum TokenizedBleuForm;
using Lines = std::vector<std::string>;

const Lines kEnglish = {"The dog doesn't bark, said Dr. Jones.", "It costs $1,000.50 & more!", "we are HERE"};
const Lines kGerman = {"Am 3. Mai sagte er: \"Das ist's.\"", "Es kostet 1.000,50 Euro (z.B. hier).", "wir sind HIER"};
const Lines kEnglishReference = {"the dog does not bark, said Dr. Jones.", "It costs $1,000.50 and more!",
                                 "We are here now"};
const Lines kGermanReference = {"Am 3. Mai sagte er: \"Das ist es.\"", "Es kostet 1.000,50 Euro (z.B. dort).",
                                "Wir sind jetzt hier"};
const Lines kFrench = {"L'\u00e9t\u00e9 dernier, M. Dupont n'est pas venu !",
                       "Cela co\u00fbte 1.000,50 euros (p.ex. ici).", "nous sommes ICI"};
const Lines kFrenchReference = {"L'\u00e9t\u00e9 dernier M. Dupont n'est pas parti !",
                                "Cela co\u00fbte 1.000,50 euros (p.ex. l\u00e0).", "Nous sommes ici"};

std::string line_of(MosesLanguage language, TokenizedBleuForm form) {
  const std::map<MosesLanguage, std::pair<Lines, Lines>> lines = {
      {MosesLanguage::kEnglish, {kEnglish, kEnglishReference}},
      {MosesLanguage::kGerman, {kGerman, kGermanReference}},
      {MosesLanguage::kFrench, {kFrench, kFrenchReference}},
  };
  const auto& [hypotheses, references] = lines.at(language);
  return score_corpus(TokenizedBleu(form, language), hypotheses, References{references}).format({.width = 4});
}

TEST(TokenizedBleu, IsSacrebleuWithoutTokenisationOnMosesTokens) {
  EXPECT_EQ(line_of(MosesLanguage::kEnglish, kCased),
            "tokenised BLEU|nrefs:1|case:mixed|eff:no|tok:moses-en|smooth:exp|version:2.6.0 = 46.6317 "
            "70.0/52.9/42.9/36.4 (BP = 0.951 ratio = 0.952 hyp_len = 20 ref_len = 21)");
  EXPECT_EQ(line_of(MosesLanguage::kEnglish, kLowercase),
            "lower-case tokenised BLEU|nrefs:1|case:lc|eff:no|tok:moses-en|smooth:exp|version:2.6.0 = 54.6679 "
            "85.0/70.6/50.0/36.4 (BP = 0.951 ratio = 0.952 hyp_len = 20 ref_len = 21)");
  EXPECT_EQ(line_of(MosesLanguage::kGerman, kCased),
            "tokenised BLEU|nrefs:1|case:mixed|eff:no|tok:moses-de|smooth:exp|version:2.6.0 = 63.6187 "
            "79.2/66.7/61.1/60.0 (BP = 0.959 ratio = 0.960 hyp_len = 24 ref_len = 25)");
  EXPECT_EQ(line_of(MosesLanguage::kGerman, kLowercase),
            "lower-case tokenised BLEU|nrefs:1|case:lc|eff:no|tok:moses-de|smooth:exp|version:2.6.0 = 66.3655 "
            "87.5/71.4/61.1/60.0 (BP = 0.959 ratio = 0.960 hyp_len = 24 ref_len = 25)");
  EXPECT_EQ(line_of(MosesLanguage::kFrench, kCased),
            "tokenised BLEU|nrefs:1|case:mixed|eff:no|tok:moses-fr|smooth:exp|version:2.6.0 = 53.0023 "
            "78.3/60.0/47.1/35.7 (BP = 1.000 ratio = 1.045 hyp_len = 23 ref_len = 22)");
  EXPECT_EQ(line_of(MosesLanguage::kFrench, kLowercase),
            "lower-case tokenised BLEU|nrefs:1|case:lc|eff:no|tok:moses-fr|smooth:exp|version:2.6.0 = 58.2450 "
            "87.0/70.0/52.9/35.7 (BP = 1.000 ratio = 1.045 hyp_len = 23 ref_len = 22)");
}

TEST(TokenizedBleu, SplitsCompoundsAsPerlDoes) {
  EXPECT_EQ(split_compounds("rich-text format"), "rich ##AT##-##AT## text format");
  EXPECT_EQ(split_compounds("ab-cd-ef"), "ab ##AT##-##AT## cd ##AT##-##AT## ef");
  EXPECT_EQ(split_compounds("a-b-c"), "a ##AT##-##AT## b-c") << "the b was part of the first match";
  EXPECT_EQ(split_compounds("\u00e4-\u00f6-\u00fc"), "\u00e4 ##AT##-##AT## \u00f6 ##AT##-##AT## \u00fc")
      << "Perl matches bytes: the second one of the \u00f6 is free";
  EXPECT_EQ(split_compounds("a - b -c d- --- -"), "a - b -c d- - ##AT##-##AT## - -");
  EXPECT_EQ(split_compounds(""), "");
}

TEST(TokenizedBleu, OfSplitCompoundsIsThatOfTheScript) {
  const Lines hypotheses = {"Der rich-text-Editor ist Open-Source-Software f\u00fcr a-b-c.",
                            "Ein U-Boot - und -mehr- in S\u00fcd-\u00d6sterreich", "\u00e4-\u00f6-\u00fc"};
  const Lines references = {"Der Rich-Text-Editor ist eine Open-Source-Software f\u00fcr a-b-c.",
                            "Ein U-Boot - und mehr in S\u00fcd-\u00d6sterreich", "\u00e4-\u00f6-\u00fc"};
  EXPECT_EQ(
      score_corpus(TokenizedBleu(kCompoundSplit, MosesLanguage::kGerman), hypotheses, References{references})
          .format({.width = 4}),
      "compound-split tokenised BLEU|nrefs:1|case:mixed|eff:no|tok:moses-de-atat|smooth:exp|version:2.6.0 = 68.7153 "
      "90.9/76.7/66.7/54.2 (BP = 0.970 ratio = 0.971 hyp_len = 33 ref_len = 34)");
}

// What a Moses tokenizer has cut before must not be cut again.
TEST(TokenizedBleu, TakesTokensAsTheyAre) {
  const Lines hypotheses = {"The dog does n't bark , said Dr. Jones .", "It costs $ 1,000.50 &amp; more !",
                            "we are HERE"};
  const Lines references = {"the dog does not bark , said Dr. Jones .", "It costs $ 1,000.50 and more !",
                            "We are here now"};
  const auto line = [&](TokenizedBleuForm form) {
    return score_corpus(TokenizedBleu(form), hypotheses, References{references}).format({.width = 4});
  };
  EXPECT_EQ(line(kAsIs),
            "BLEU of tokens as they are|nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:2.6.0 = 48.7092 "
            "75.0/58.8/42.9/36.4 (BP = 0.951 ratio = 0.952 hyp_len = 20 ref_len = 21)");
  EXPECT_EQ(line(kAsIsLowercase),
            "lower-case BLEU of tokens as they are|nrefs:1|case:lc|eff:no|tok:none|smooth:exp|version:2.6.0 = 58.4961 "
            "90.0/76.5/57.1/36.4 (BP = 0.951 ratio = 0.952 hyp_len = 20 ref_len = 21)");
}

TEST(TokenizedBleu, OfMosesTokensNeedsTheLanguage) { EXPECT_THROW(TokenizedBleu{kCased}, Error); }

TEST(TokenizedBleu, TakesSeveralReferencesAndResamples) {
  const TokenizedBleu metric(kLowercase, MosesLanguage::kEnglish);
  const Score score = score_corpus(metric, kEnglish, References{kEnglishReference, kEnglish}, {.bootstrap = 100});
  EXPECT_NEAR(score.score, 100, 1e-9);
  ASSERT_TRUE(score.confidence);
  EXPECT_GT(score.confidence->mean, 90);  // some resamples have no sentence with n-grams of order 4
}

}  // namespace
}  // namespace nmt::scoring::tokenized_bleu_test
