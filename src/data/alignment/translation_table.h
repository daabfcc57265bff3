#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/alignment/lexicon_training.h"

namespace nmt {

/// p(target | source piece) of those targets that a source piece may translate to, and p(target | empty word).
class TranslationTable {
 public:
  static constexpr int32_t kNowhere = -1;

  explicit TranslationTable(const PieceTranslations& translations);

  /// Where the target stands in the source piece's row, or kNowhere.
  int32_t find(int32_t source, int32_t target) const;
  /// A target that is nowhere in the row has a little, so that no pair is impossible.
  float probability(int32_t source, int32_t place) const {
    return place == kNowhere ? kLeast : probabilities_[begins_[source] + place];
  }
  float empty_probability(int32_t target) const { return empty_[target]; }

  int64_t sources() const { return static_cast<int64_t>(begins_.size()) - 1; }
  int64_t targets() const { return static_cast<int64_t>(empty_.size()); }
  std::span<float> row(int32_t source) {
    return std::span(probabilities_).subspan(begins_[source], begins_[source + 1] - begins_[source]);
  }
  uint64_t row_begin(int32_t source) const { return begins_[source]; }
  uint64_t cells() const { return probabilities_.size(); }
  std::vector<float>& empty() { return empty_; }

 private:
  static constexpr float kLeast = 1e-7F;

  std::vector<uint64_t> begins_;  // [sources + 1] of the rows in what follows
  std::vector<int32_t> targets_;  // ascending in a row
  std::vector<float> probabilities_, empty_;
};

}  // namespace nmt
