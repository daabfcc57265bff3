#include "evaluation/original_results.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/files/file.h"
#include "support.h"

namespace nmt::original_results_test {
namespace {

// 1-grams 9/10, 2-grams 6/7, 3-grams 3/4, 4-grams 1/2. His scorer takes the "a" off both last lines: 1-grams 8/9,
// 2-grams 5/6.
const TranslatedText kText{.sources = {"x y z", "u", "v"},
                           .references = {"a b c d", "b b c d", "a a"},
                           .hypotheses = {"a b c a", "b b c d", "a a"}};

TEST(OriginalResults, Of2019AreTranslationsAndTheLineOfTheScorer) {
  const test::TemporaryDirectory folder;
  const double bleu = 100 * std::pow(8.0 / 9 * 5 / 6 * 3 / 4 * 1 / 2, 0.25);
  const auto file = write_kyubyong2019_results(folder.path(), "iwslt2016_E19L2.64", kText);
  EXPECT_NEAR(bleu, 72.60, 0.005);
  EXPECT_EQ(file, folder / "iwslt2016_E19L2.64B72.60");
  EXPECT_EQ(read_file(file), "a b c a\nb b c d\na a\nBLEU = 72.60, 88.9/83.3/75.0/50.0 (BP=1.000, ration=1.000)");
}

TEST(OriginalResults, Of2017AreTripletsAndBleuOfLongerSentences) {
  const test::TemporaryDirectory folder;
  const auto file = write_kyubyong2017_results(folder.path(), "model_epoch_18_gs_30654", kText);
  EXPECT_EQ(file, folder / "model_epoch_18_gs_30654");
  const auto text = read_file(file);
  EXPECT_THAT(text, testing::StartsWith("- source: x y z\n- expected: a b c d\n- got: a b c a\n\n- source: u\n"));
  // The first two pairs: 7/8, 5/6, 3/4, 1/2.
  const auto place = text.rfind("\n\nBleu Score = ");
  ASSERT_NE(place, std::string::npos);
  const auto figure = text.substr(place + 15);
  EXPECT_NEAR(std::stod(figure), 100 * std::pow(7.0 / 8 * 5 / 6 * 3 / 4 * 1 / 2, 0.25), 1e-9);
  EXPECT_GT(figure.size(), 12u) << "in full precision";
}

TEST(OriginalResults, Of2017WithoutALongSentenceAreZero) {
  const test::TemporaryDirectory folder;
  const auto file = write_kyubyong2017_results(folder.path(), "x", {{"s"}, {"a b c"}, {"a b c d"}});
  EXPECT_THAT(read_file(file), testing::EndsWith("Bleu Score = 0"));
}

}  // namespace
}  // namespace nmt::original_results_test
