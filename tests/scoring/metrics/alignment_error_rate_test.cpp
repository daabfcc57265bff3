#include "scoring/metrics/alignment_error_rate.h"

#include "base/error.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/corpus/paired_test.h"
#include "scoring/vectors.h"
#include "support.h"

namespace nmt::scoring::alignment_error_rate_test {
namespace {

using namespace test;
using nmt::test::message_of;
using Lines = std::vector<std::string>;

// Figures: segment_metrics_golden.py.
const Lines kGold = {"0-0 1-1 2?2", "0-0 1p2 2-1", "0-1", "", "0-0 0?1 1-2 2-2"};
const Lines kLinks = {"0-0 1-1 2-2", "0-0  1-2\t2-2 0-0", "", "0-0", "0-0 0-1 1-2"};
const Lines kOther = {"0-0 1-0", "0-0 2-1", "0-1", "", "0-0 1-2 2-2"};

TEST(AlignmentErrorRate, CountsSureAndPossibleLinksOverTheCorpus) {
  const Score score = score_corpus(AlignmentErrorRate(), kLinks, {kGold});
  EXPECT_NEAR(score.score, 27.77777777777778, kPointTolerance);
  EXPECT_EQ(score.format({.width = 2}),
            "AER|nrefs:1|version:2.6.0 = 27.78 (precision = 80.0 recall = 62.5 links = 10)");
  EXPECT_EQ(score_corpus(AlignmentErrorRate(), Lines{""}, {{""}}).score, 0);
}

TEST(AlignmentErrorRate, IsResampledAsOtherMetrics) {
  const std::vector<NamedSystem> systems = {{"a", kLinks}, {"b", kOther}};
  const std::vector<std::shared_ptr<const Metric>> metrics = {std::make_shared<AlignmentErrorRate>()};
  const auto bootstrapped = paired_test(systems, {kGold}, metrics).columns.front().results;
  EXPECT_NEAR(*bootstrapped[0].mean, 30.67512103440559, kResampleTolerance);
  EXPECT_NEAR(*bootstrapped[0].half_width, 28.78787878787879, kResampleTolerance);
  EXPECT_NEAR(bootstrapped[1].score, 12.5, kPointTolerance);
  EXPECT_NEAR(*bootstrapped[1].mean, 12.725409867909868, kResampleTolerance);
  EXPECT_NEAR(*bootstrapped[1].p_value, 0.21578421578421578, 1e-15);
  const auto shuffled = paired_test(systems, {kGold}, metrics, {.kind = PairedTestKind::kApproximateRandomization});
  EXPECT_NEAR(*shuffled.columns.front().results[1].p_value, 0.44195580441955806, 1e-15);
}

TEST(AlignmentErrorRate, NamesTheSegmentOfWhatIsNoLink) {
  const auto message = [](const Lines& links, const References& gold) {
    return message_of<Error>([&] { score_corpus(AlignmentErrorRate(), links, gold); });
  };
  for (const std::string wrong : {"1", "1-", "-1", "1-2-3", "1?2", "a-b", "1-99999999999", "-"}) {
    EXPECT_EQ(message({"0-0", "0-0 " + wrong}, {{"0-0", "0-0"}}),
              "segment 2: '" + wrong + "' is no link; write SOURCE-TARGET");
  }
  EXPECT_EQ(message({"0-0"}, {{"0/0"}}),
            "segment 1: '0/0' is no link; write SOURCE-TARGET, or SOURCE?TARGET for a possible one");
  EXPECT_EQ(message({"0-0"}, {{"0-0"}, {"0-0"}}),
            "segment 1: -m aer: has one reference; sure and possible links stand in one file");
}

}  // namespace
}  // namespace nmt::scoring::alignment_error_rate_test
