#include "scoring/corpus/resampling.h"

#include "scoring/metrics/bleu.h"
#include "scoring/metrics/ter.h"
#include "scoring/python/numpy_random.h"
#include "scoring/python/python_number.h"
#include "support.h"

namespace nmt::scoring::resampling_test {
namespace {

TEST(NumpyScalar, StaysDoubleUntilItMeetsFloat32) {
  const NumpyScalar python(0.1), numpy(3.0f);
  EXPECT_EQ((python + python).value(), 0.1 + 0.1);
  EXPECT_FALSE((python * python).is_float32());
  EXPECT_EQ((python * numpy).value(), 0.1f * 3.0f);
  EXPECT_EQ((NumpyScalar(1.0) / numpy).value(), 1.0f / 3.0f);
  EXPECT_TRUE((python + numpy).is_float32());
}

double value_at(int64_t row, int column) { return static_cast<double>((row * 31 + column * 7) % 19); }

ResampleMatrix matrix_of(int columns, int64_t rows, double scale = 1, int64_t first_row = 0) {
  ResampleMatrix matrix(columns);
  std::vector<double> row(columns);
  for (int64_t r = first_row; r < first_row + rows; ++r) {
    for (int c = 0; c < columns; ++c) row[c] = scale * value_at(r, c);
    matrix.append(row);
  }
  return matrix;
}

TEST(ResampleMatrix, PadsRowsToGroupsOfFour) {
  ResampleMatrix matrix(3);
  matrix.append(std::vector<double>{1, 2, 3});
  matrix.append(std::vector<double>{4, 0.5, 65537});
  EXPECT_EQ(matrix.values, (std::vector<float>{1, 2, 3, 0, 4, 0.5, 65537, 0}));
  EXPECT_EQ(matrix.rows, 2);
}

/// A metric whose score is a weighted sum of its columns, to see the sums.
class Weighted final : public Metric {
 public:
  explicit Weighted(int columns) : columns_(columns) {}
  std::string key() const override { return "WEIGHTED"; }
  std::string name() const override { return "Weighted"; }
  int columns() const override { return columns_; }
  std::unique_ptr<SegmentScorer> segment_scorer() const override { return nullptr; }
  Score score_of(std::span<const double> sums) const override {
    Score score;
    for (int c = 0; c < columns_; ++c) score.score += (c + 1) * sums[c];
    return score;
  }
  ResampleScore score_of_resample(std::span<const float> sums) const override {
    return {.value = score_of(std::vector<double>(sums.begin(), sums.end())).score};
  }
  Signature signature(const SignatureFacts& facts) const override { return Signature(facts, {}); }

 private:
  int columns_;
};

TEST(Bootstrap, SumsTheRowsThatTheStreamChooses) {
  struct Case {
    int columns;
    int64_t rows;
    double scale;
  };
  for (const auto& [columns, rows, scale] :
       {Case{1, 13, 1}, Case{2, 13, 0.5}, Case{4, 13, 1}, Case{10, 13, 4000}, Case{24, 13, 1}, Case{32, 13, 0.5},
        Case{33, 13, 1}, Case{50, 13, 0.5}, Case{10, 100001, 1}, Case{33, 100001, 1}}) {
    const Weighted metric(columns);
    const ResampleMatrix matrix = matrix_of(columns, rows, scale);
    const ResampledSystem system{&metric, &matrix};
    const auto scores = bootstrap(std::span(&system, 1), {.samples = 3, .threads = 1}).front();
    NumpyRandom random{Seed()};
    for (int sample = 0; sample < 3; ++sample) {
      std::vector<uint32_t> chosen(rows);
      random.choose(rows, chosen);
      double expected = 0;
      for (const uint32_t row : chosen) {
        for (int c = 0; c < columns; ++c) expected += (c + 1) * scale * value_at(row, c);
      }
      EXPECT_EQ(scores.values[sample], expected) << columns << " columns, " << rows << " rows, sample " << sample;
    }
  }
}

TEST(Bootstrap, IsTheSameOnAnyNumberOfThreadsAndForSystemsTogether) {
  const Weighted metric(10);
  const ResampleMatrix one = matrix_of(10, 700), other = matrix_of(10, 700, 1, 1);
  const std::vector<ResampledSystem> both = {{&metric, &one}, {&metric, &other}};
  const auto together = bootstrap(both, {.samples = 1501, .threads = 1});  // more than a block
  EXPECT_EQ(together[0].values, bootstrap(std::span(both).first(1), {.samples = 1501, .threads = 3})[0].values);
  EXPECT_EQ(together[1].values, bootstrap(std::span(both).last(1), {.samples = 1501, .threads = 2})[0].values);
  EXPECT_NE(together[0].values, together[1].values);
}

TEST(Shuffle, SplitsSegmentsByTheCoins) {
  const Weighted metric(3);
  const int64_t segments = 70;
  std::vector<double> baseline(3 * segments), system(3 * segments);
  for (size_t i = 0; i < baseline.size(); ++i) {
    baseline[i] = static_cast<double>(i % 17);
    system[i] = static_cast<double>(i % 13);
  }
  const ShuffledSystem shuffled{&metric, &baseline, &system};
  const auto trials = shuffle(std::span(&shuffled, 1), {.samples = 5, .threads = 2}).front();
  NumpyRandom random{Seed()};
  for (int trial = 0; trial < 5; ++trial) {
    double first = 0, second = 0;
    for (int64_t s = 0; s < segments; ++s) {
      const bool coin = random.coin();
      for (int c = 0; c < 3; ++c) {
        first += (c + 1) * (coin ? baseline : system)[3 * s + c];
        second += (c + 1) * (coin ? system : baseline)[3 * s + c];
      }
    }
    EXPECT_EQ(trials.first[trial], first);
    EXPECT_EQ(trials.second[trial], second);
  }
}

TEST(ConfidenceInterval, TakesTheMiddle95Percent) {
  ResampledScores scores;
  for (int i = 100; i > 0; --i) scores.values.push_back(i);
  const auto interval = confidence_interval(scores);  // bounds 3 and 98
  EXPECT_EQ(interval.mean, 50.5);
  EXPECT_EQ(interval.half_width, 47.5);
  EXPECT_EQ(paired_interval(scores).mean, 50.5);
  const auto single = confidence_interval({.values = {7.5}, .all_float32 = false});
  EXPECT_EQ(single.mean, 7.5);
  EXPECT_EQ(single.half_width, 0);
}

TEST(ConfidenceInterval, RoundsToFloat32WhereEveryScoreIsOne) {
  const ResampledScores scores{.values = {0.1f, 0.2f, 0.4f}, .all_float32 = true};
  const double mean = confidence_interval(scores).mean;
  EXPECT_EQ(mean, static_cast<float>(mean));
}

TEST(PValue, CountsLargerDifferencesOnly) {
  const ResampledScores baseline{.values = {1, 2, 3, 4}}, system{.values = {2, 4, 6, 8}};
  // Differences 1 2 3 4, less their mean: -1.5 -0.5 0.5 1.5.
  EXPECT_EQ(bootstrap_p_value(baseline, system, 0.5), 2.0 / 5);
  EXPECT_EQ(bootstrap_p_value(baseline, system, 1.5), 1.0 / 5);
  EXPECT_EQ(shuffle_p_value({.first = {1, 5, 3}, .second = {2, 2, 3}}, 1), 2.0 / 4);
}

}  // namespace
}  // namespace nmt::scoring::resampling_test
