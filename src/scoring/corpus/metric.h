#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "scoring/corpus/score.h"
#include "scoring/corpus/signature.h"

namespace nmt::scoring {

/// Takes the statistics of segments, one after another. Not to be shared between threads.
class SegmentScorer {
 public:
  virtual ~SegmentScorer() = default;
  /// The references of the segment that follows, at least one. Must stay valid until the last statistics() of the
  /// segment.
  virtual void set_references(std::span<const std::string_view> references) = 0;
  /// Statistics of a hypothesis for these references: Metric::columns() numbers.
  virtual void statistics(std::string_view hypothesis, std::span<double> out) = 0;
};

/// The score of one bootstrap resample as NumPy 2 computes it: in float32 where every operand was one.
struct ResampleScore {
  double value = 0;
  bool is_float32 = false;
};

/// A metric whose corpus score is a function of sums of segment statistics. Objects are immutable: share them freely.
/// All text is UTF-8 (nmt::Error otherwise).
class Metric {
 public:
  virtual ~Metric() = default;
  virtual std::string key() const = 0;   ///< "BLEU", "CHRF", "TER": the order of metrics in reports
  virtual std::string name() const = 0;  ///< of its scores: "BLEU", "chrF2++", "TER"
  virtual int columns() const = 0;       ///< statistics of a segment
  /// Counts white space at the ends of lines, which sacreBLEU removes from the files that it reads.
  virtual bool reads_line_ends() const { return false; }
  virtual std::unique_ptr<SegmentScorer> segment_scorer() const = 0;
  /// The score of sums of statistics; without signature.
  virtual Score score_of(std::span<const double> sums) const = 0;
  virtual ResampleScore score_of_resample(std::span<const float> sums) const = 0;
  /// The score of an approximate-randomisation trial; differs from score_of() where NumPy's integers would.
  virtual double score_of_trial(std::span<const double> sums) const { return score_of(sums).score; }
  virtual Signature signature(const SignatureFacts& facts) const = 0;
};

}  // namespace nmt::scoring
