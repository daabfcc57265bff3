#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scoring/corpus/resampling.h"

namespace nmt::scoring {

/// The segments whose hypotheses and references all have min to max words (Python's str.split()).
SegmentBlock with_words(const SegmentBlock& block, int64_t min, int64_t max);

/// The scores of one system by length classes: segments of 0 to step - 1 words of the first reference, of step to
/// 2 step - 1, and so on.
class LengthAnalysis {
 public:
  LengthAnalysis(std::vector<std::shared_ptr<const Metric>> metrics, int64_t step, int threads);
  void add(const SegmentBlock& block);
  /// A heading, then a line a class that has segments: its lengths, the number of segments, and the scores.
  std::string table(int width) const;

 private:
  std::vector<std::shared_ptr<const Metric>> metrics_;
  int64_t step_;
  int threads_;
  std::map<int64_t, CorpusStatistics> classes_;
};

}  // namespace nmt::scoring
