#include "scoring/corpus/metric.h"
#include "support.h"

namespace nmt::scoring::score_test {
namespace {

Score example() {
  Score score;
  score.name = "BLEU";
  score.score = 48.530827;
  score.details = "82.4/50.0 (BP = 0.943)";
  score.signature = Signature({.references = 2}, {{"case", "c", "mixed"}});
  return score;
}

TEST(Score, FormatsALine) {
  Score score = example();
  EXPECT_EQ(score.format(), "BLEU|nrefs:2|case:mixed|version:2.6.0 = 48.53 82.4/50.0 (BP = 0.943)");
  EXPECT_EQ(score.format({.width = 0, .short_signature = true}),
            "BLEU|#:2|c:mixed|v:2.6.0 = 49 82.4/50.0 (BP = 0.943)");
  score.confidence = {.mean = 46.9, .half_width = 2.25};
  EXPECT_EQ(score.format({.width = 1, .score_only = true}), "48.5 (μ = 46.9 ± 2.2)");
  score.confidence->mean = 0;  // nothing to show
  EXPECT_EQ(score.format({.width = 1, .score_only = true}), "48.5");
  score.signature.reset();
  EXPECT_EQ(score.format({.width = 1}), "BLEU = 48.5 82.4/50.0 (BP = 0.943)");
}

TEST(Score, FormatsJson) {
  Score score = example();
  score.confidence = {.mean = 46.96, .half_width = 46.7};
  EXPECT_EQ(score.format_json({.width = 1}),
            "{\n"
            " \"name\": \"BLEU\",\n"
            " \"score\": 48.5,\n"
            " \"signature\": \"nrefs:2|case:mixed|version:2.6.0\",\n"
            " \"confidence_mean\": 47.0,\n"
            " \"confidence_var\": 46.7,\n"
            " \"confidence\": \"μ = 47.0 ± 46.7\",\n"
            " \"verbose_score\": \"82.4/50.0 (BP = 0.943)\",\n"
            " \"nrefs\": \"2\",\n"
            " \"case\": \"mixed\",\n"
            " \"version\": \"2.6.0\"\n"
            "}");
  EXPECT_EQ(score.format_json({.width = 2, .score_only = true}), "48.53 (μ = 46.96 ± 46.70)");
}

TEST(Signature, OrdersItsFields) {
  const Signature signature({.references = 1, .bootstrap = 1000, .trials = 10, .seed = "none"}, {{"norm", "nr", "no"}});
  EXPECT_EQ(signature.text(), "nrefs:1|bs:1000|ar:10|seed:none|norm:no|version:2.6.0");
  EXPECT_EQ(signature.short_text(), "#:1|bs:1000|ar:10|rs:none|nr:no|v:2.6.0");
  EXPECT_EQ(Signature({.references = kVariableReferences}, {}).text(), "nrefs:var|version:2.6.0");
}

}  // namespace
}  // namespace nmt::scoring::score_test
