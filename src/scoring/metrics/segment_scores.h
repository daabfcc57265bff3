#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scoring/corpus/metric.h"
#include "scoring/corpus/paired_test.h"

namespace nmt::scoring {

/// What another program, such as COMET, gave each segment of several systems.
struct SegmentScores {
  std::string metric = "mean";            ///< "COMET" where the files say so
  std::vector<NamedSystem> systems = {};  ///< with numbers, as they were written, in place of hypotheses
};

/// Reads files of numbers, one a line, which are a system each; of what comet-score of COMET 2.2 prints
/// ("SYSTEM<tab>Segment 0<tab>score: 0.8123"), or writes with --to_json ({"SYSTEM": [{"COMET": 0.8123, ...}, ...]}):
/// those hold one system or several. Throws nmt::Error ("FILE:LINE: ...") for what is none of them or not finite, for
/// systems of one name, and for systems with different numbers of segments.
SegmentScores read_segment_scores(std::span<const std::string> files);

/// The mean of such numbers, whatever the references are.
class MeanScore final : public Metric {
 public:
  explicit MeanScore(std::string name) : name_(std::move(name)) {}
  std::string key() const override { return name_; }
  std::string name() const override { return name_; }
  int columns() const override { return 2; }
  std::unique_ptr<SegmentScorer> segment_scorer() const override;
  Score score_of(std::span<const double> sums) const override;  ///< sums: of the scores; segments
  ResampleScore score_of_resample(std::span<const float> sums) const override;
  Signature signature(const SignatureFacts& facts) const override;  ///< without references

 private:
  std::string name_;
};

}  // namespace nmt::scoring
