#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scoring/corpus/corpus_statistics.h"
#include "scoring/corpus/metric.h"
#include "scoring/python/seed.h"

namespace nmt::scoring {

/// Scores of bootstrap resamples (Koehn 2004), as NumPy holds them.
struct ResampledScores {
  std::vector<double> values;
  bool all_float32 = false;
};

/// What is resampled: the segment statistics of one system by one metric.
struct ResampledSystem {
  const Metric* metric;
  const ResampleMatrix* statistics;
};

struct ResamplingOptions {
  int64_t samples = 1000;
  Seed seed = {};
  int threads = 0;  ///< 0: all processors; figures do not depend on it
};

/// Resamples segments with replacement and scores each resample; all systems, which have equally many segments, see the
/// same resamples. Statistics are summed in float32, segment after segment, as sacreBLEU does through NumPy.
std::vector<ResampledScores> bootstrap(std::span<const ResampledSystem> systems, const ResamplingOptions& options);

/// Scores of the two halves that each trial of approximate randomisation (Riezler and Maxwell 2005) makes.
struct TrialScores {
  std::vector<double> first, second;
};
/// first[t]: segments of the baseline where the coin says so, of the system elsewhere; second[t]: the other way round.
/// Statistics: segment by segment, Metric::columns() numbers each. Every system sees the same coins.
struct ShuffledSystem {
  const Metric* metric;
  const std::vector<double>*baseline, *system;
};
std::vector<TrialScores> shuffle(std::span<const ShuffledSystem> systems, const ResamplingOptions& options);

/// Mean and half of the width of the middle 95 %: of a confidence interval (exact mean, as statistics.mean) ...
ConfidenceInterval confidence_interval(const ResampledScores& scores);
/// ... and of a paired test (numpy.mean).
ConfidenceInterval paired_interval(const ResampledScores& scores);

/// Two-sided p-value of paired bootstrap: how often the difference of a resample, less the mean difference, exceeds the
/// real one; (count + 1) / (samples + 1).
double bootstrap_p_value(const ResampledScores& baseline, const ResampledScores& system, double real_difference);
/// The same of approximate randomisation: how often the halves differ by more.
double shuffle_p_value(const TrialScores& trials, double real_difference);

}  // namespace nmt::scoring
