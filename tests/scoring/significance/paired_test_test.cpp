#include "scoring/corpus/paired_test.h"

#include "base/error.h"
#include "scoring/metrics/bleu.h"
#include "scoring/metrics/chrf.h"
#include "scoring/metrics/ter.h"
#include "scoring/vectors.h"
#include "support.h"

namespace nmt::scoring::paired_test_test {
namespace {

using namespace test;
using nmt::test::message_of;

std::vector<std::shared_ptr<const Metric>> all_metrics() {
  return {std::make_shared<Bleu>(), std::make_shared<Chrf>(), std::make_shared<Ter>()};
}

const std::vector<NamedSystem> kSystems = {{"Baseline: three", kThreeHypotheses}, {"other", kOtherHypotheses}};

TEST(PairedTest, BootstrapEqualsSacrebleu) {
  const PairedTable table = paired_test(kSystems, kThreeReferences, all_metrics());
  ASSERT_EQ(table.columns.size(), 3u);
  EXPECT_EQ(table.systems, (std::vector<std::string>{"Baseline: three", "other"}));
  EXPECT_EQ(table.samples, 1000);
  const PairedColumn& bleu = table.columns[0];
  EXPECT_EQ(bleu.signature.text(), "nrefs:2|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_EQ(bleu.results[0].p_value, std::nullopt);
  EXPECT_NEAR(*bleu.results[0].mean, 46.95974802546285, kResampleTolerance);
  EXPECT_NEAR(bleu.results[1].score, 68.8459779998743, kPointTolerance);
  EXPECT_NEAR(*bleu.results[1].p_value, 0.000999000999000999, 1e-15);
  EXPECT_NEAR(*bleu.results[1].mean, 66.43821724706984, kResampleTolerance);
  EXPECT_NEAR(*bleu.results[1].half_width, 33.76660453587253, kResampleTolerance);
}

TEST(PairedTest, RandomizationGivesPValuesOnly) {
  const PairedTable table = paired_test(kSystems, kThreeReferences, all_metrics(),
                                        {.kind = PairedTestKind::kApproximateRandomization, .samples = 100});
  for (const PairedColumn& column : table.columns) {
    EXPECT_EQ(column.results[0].p_value, std::nullopt);
    ASSERT_TRUE(column.results[1].p_value) << column.metric;
    EXPECT_GT(*column.results[1].p_value, 0);
    EXPECT_LE(*column.results[1].p_value, 1);
    EXPECT_EQ(column.results[1].mean, std::nullopt);
  }
  EXPECT_EQ(table.columns[2].signature.text(),
            "nrefs:2|ar:100|seed:12345|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0");
  EXPECT_EQ(paired_test(kSystems, kThreeReferences, all_metrics(), {.kind = PairedTestKind::kApproximateRandomization})
                .samples,
            10000);
}

TEST(PairedTest, OfASystemWithItselfFindsNoDifference) {
  const std::vector<NamedSystem> twice = {kSystems[0], {"again", kThreeHypotheses}};
  for (const auto kind : {PairedTestKind::kBootstrap, PairedTestKind::kApproximateRandomization}) {
    const PairedTable table = paired_test(twice, kThreeReferences, all_metrics(), {.kind = kind, .samples = 50});
    // "Larger" is strict: a difference of zero is not put down to chance.
    for (const PairedColumn& column : table.columns) EXPECT_EQ(*column.results[1].p_value, 1.0 / 51) << column.metric;
  }
}

TEST(PairedTest, TreatsTheSeedZeroAsNoneInTheComparison) {
  const auto table = [&] {
    return paired_test(kSystems, kThreeReferences, all_metrics(), {.samples = 40, .seed = Seed::parse("0")});
  };
  const PairedTable one = table(), other = table();
  EXPECT_EQ(one.columns[0].results[0].mean, other.columns[0].results[0].mean);  // the baseline is seeded
  EXPECT_NE(one.columns[1].results[1].mean, other.columns[1].results[1].mean);
}

TEST(PairedTest, RefusesWhatItCannotCompare) {
  const auto metrics = all_metrics();
  EXPECT_EQ(message_of<Error>([&] { paired_test(std::span(kSystems).first(1), kThreeReferences, metrics); }),
            "paired test: at least two systems are needed");
  EXPECT_EQ(message_of<Error>([&] { paired_test(kSystems, {}, metrics); }), "Baseline: three: there are no references");
  EXPECT_EQ(message_of<Error>([&] { paired_test(kSystems, {{}}, metrics); }),
            "Baseline: three: 3 hypotheses, but 0 references; both need one line a segment");
  const std::vector<NamedSystem> uneven = {kSystems[0], {"short", {"a"}}};
  EXPECT_EQ(message_of<Error>([&] { paired_test(uneven, kThreeReferences, metrics); }),
            "short: 1 hypotheses, but 3 references; both need one line a segment");
  const std::vector<NamedSystem> bad = {kSystems[0], {"bad", {"a", "b\xFF", "c"}}};
  EXPECT_EQ(message_of<Error>([&] { paired_test(bad, kThreeReferences, metrics); }),
            "bad: hypotheses, line 2: not UTF-8 at byte 2");
}

}  // namespace
}  // namespace nmt::scoring::paired_test_test
