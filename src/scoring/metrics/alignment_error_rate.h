#pragma once

#include <memory>
#include <span>
#include <string>

#include "scoring/corpus/metric.h"

namespace nmt::scoring {

/// Alignment error rate (Och and Ney 2003, eq. 26) in percent: 100 * (1 - (|A & S| + |A & P|) / (|A| + |S|)), counted
/// over the whole corpus; 0 where there are no links at all. A segment is its links between white space,
/// "SOURCE-TARGET" by places of words from 0 (Pharaoh's format); a link that stands twice counts once. In the one
/// reference "3?4" and "3p4" are possible links, the others (S) are sure and possible (P) too; a hypothesis (A) has
/// "3-4" alone. Details are precision |A & P| / |A| and recall |A & S| / |S|. Throws nmt::Error for what is no link,
/// and several references.
class AlignmentErrorRate final : public Metric {
 public:
  std::string key() const override { return "AER"; }
  std::string name() const override { return "AER"; }
  int columns() const override { return 4; }
  std::unique_ptr<SegmentScorer> segment_scorer() const override;
  Score score_of(std::span<const double> sums) const override;  ///< sums: |A|, |S|, |A & S|, |A & P|
  ResampleScore score_of_resample(std::span<const float> sums) const override;
  Signature signature(const SignatureFacts& facts) const override { return Signature(facts, {}); }
};

}  // namespace nmt::scoring
