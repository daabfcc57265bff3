#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "scoring/corpus/metric.h"
#include "scoring/python/numpy_random.h"

namespace nmt::scoring {

/// Some consecutive segments: hypotheses[system][segment], references[set][segment]. A reference whose data() is null
/// is missing. The text belongs to someone else.
struct SegmentBlock {
  std::vector<std::vector<std::string_view>> hypotheses, references;
  bool has_line_ends = false;  ///< white space at line ends is there, for Metric::reads_line_ends() only
  int64_t size() const { return hypotheses.empty() ? 0 : static_cast<int64_t>(hypotheses.front().size()); }
};

/// Statistics of segments the way resampling reads them: rows of float32, padded with zeros to a whole number of groups
/// of four.
struct ResampleMatrix {
  explicit ResampleMatrix(int columns) : columns(columns), stride((columns + 3) / 4 * 4) {}
  void append(std::span<const double> row);

  int columns, stride;
  int64_t rows = 0;
  std::vector<float> values = {};  ///< [rows, stride]
};

/// What of the statistics of single segments is kept besides their sums.
enum class Keep { kSums, kFloat32, kExact };

/// Gathers the statistics of several systems by several metrics while the corpus streams by.
class CorpusStatistics {
 public:
  CorpusStatistics(std::vector<std::shared_ptr<const Metric>> metrics, size_t systems, Keep keep, int threads);
  /// Throws nmt::Error for text that is not UTF-8 or a segment without a reference.
  void add(const SegmentBlock& block);

  int64_t segments() const { return segments_; }
  /// References per segment; kVariableReferences if it varied.
  int64_t references() const { return references_; }
  const std::vector<std::shared_ptr<const Metric>>& metrics() const { return metrics_; }
  size_t systems() const { return systems_; }
  const std::vector<double>& sums(size_t metric, size_t system) const { return at(metric, system).sums; }
  const ResampleMatrix& resample_matrix(size_t metric, size_t system) const { return at(metric, system).float32; }
  /// Segment by segment, Metric::columns() numbers each; kept with Keep::kExact.
  const std::vector<double>& exact(size_t metric, size_t system) const { return at(metric, system).exact; }

 private:
  struct Gathered {
    std::vector<double> sums, exact;
    ResampleMatrix float32;
  };
  const Gathered& at(size_t metric, size_t system) const { return gathered_[metric * systems_ + system]; }
  void score_segments(const SegmentBlock& block, int64_t begin, int64_t end,
                      std::vector<std::vector<double>>& statistics) const;

  std::vector<std::shared_ptr<const Metric>> metrics_;
  size_t systems_;
  Keep keep_;
  int threads_;
  int64_t segments_ = 0, references_ = 0;
  std::vector<Gathered> gathered_;
};

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
