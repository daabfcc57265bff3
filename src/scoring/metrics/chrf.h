#pragma once

#include <memory>
#include <string>

#include "scoring/corpus/metric.h"

namespace nmt::scoring {

struct ChrfOptions {
  int char_order = 6;
  int word_order = 0;  ///< 2: chrF++
  int64_t beta = 2;    ///< weight of recall
  bool lowercase = false;
  bool whitespace = false;     ///< white space counts as characters
  bool eps_smoothing = false;  ///< as chrF++.py, NLTK and Moses, instead of effective order
};

/// chrF (Popovic 2015) and chrF++ (Popovic 2017) with the figures of sacreBLEU: the F-beta score of mean precision and
/// mean recall over character (and word) n-grams, of the best single reference of each segment.
class Chrf final : public Metric {
 public:
  explicit Chrf(ChrfOptions options = {}) : options_(options) {}

  std::string key() const override { return "CHRF"; }
  std::string name() const override;
  int columns() const override;
  std::unique_ptr<SegmentScorer> segment_scorer() const override;
  Score score_of(std::span<const double> sums) const override;
  ResampleScore score_of_resample(std::span<const float> sums) const override;
  Signature signature(const SignatureFacts& facts) const override;

 private:
  ChrfOptions options_;
};

}  // namespace nmt::scoring
