#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scoring/corpus/metric.h"
#include "scoring/tokenizers/western_rules.h"

namespace nmt::scoring {

/// The number of edits of TER (Snover et al. 2006, algorithm 1) as sacreBLEU finds it: greedy shifts of up to ten
/// words, each the one that lowers the edit distance most, then insertions, deletions and substitutions. The edit
/// distance looks at a beam round the diagonal only. Words are numbers; equal words have equal numbers. Keeps its
/// memory from one call to the next; not to be shared between threads.
class TercomEdits {
 public:
  int64_t count(std::span<const uint32_t> hypothesis, std::span<const uint32_t> reference);

 private:
  enum class Step : uint8_t { kUnset, kMatch, kSubstitute, kHypothesisOnly, kReferenceOnly };
  struct Shift {
    int32_t gain = 0, length = 0, start = 0, target = 0;
    bool better_than(const Shift& other) const;
  };
  struct Row {  // one row of the matrix: columns [first, last) are computed, beyond them infinite
    int32_t first = 0, last = 0;
    size_t offset = 0;  // of column 0 in costs_; may count cells that are not stored
  };

  void lay_out();
  void compute_all();
  void fill_row(int32_t row, uint32_t word, const int32_t* above, int32_t* here, Step* steps) const;
  void align();
  bool find_shift(Shift& best);
  void try_targets(int32_t start, int32_t start_reference, int32_t length, Shift& best, bool& found);
  int32_t distance_after(const Shift& shift);
  int32_t reorder(const Shift& shift);

  std::span<const uint32_t> reference_;
  std::vector<uint32_t> words_, shifted_;  // of the hypothesis; after a shift
  std::vector<Row> rows_;
  std::vector<int32_t> costs_;         // of words_, row by row
  std::vector<Step> steps_;            // how each cell was reached, laid out as costs_
  std::vector<int32_t> above_, here_;  // rows of a shifted hypothesis; column j at j + 1
  std::vector<int32_t> aligned_;       // reference position -> hypothesis position before or at it, -1: before all
  std::vector<int32_t> reference_errors_, hypothesis_errors_;  // prefix sums
  int32_t distance_ = 0;                                       // of words_
  int64_t candidates_ = 0;                                     // shifts tried for this pair
};

/// Translation edit rate (Snover et al. 2006) with the figures of sacreBLEU, which follows Tercom:
/// 100 * fewest edits over the references / mean reference length.
class Ter final : public Metric {
 public:
  explicit Ter(TerOptions options = {}) : options_(options) {}

  std::string key() const override { return "TER"; }
  std::string name() const override { return "TER"; }
  int columns() const override { return 2; }
  std::unique_ptr<SegmentScorer> segment_scorer() const override;
  Score score_of(std::span<const double> sums) const override;  ///< sums: edits, mean reference length
  ResampleScore score_of_resample(std::span<const float> sums) const override;
  Signature signature(const SignatureFacts& facts) const override;

 private:
  TerOptions options_;
};

}  // namespace nmt::scoring
