#pragma once

#include <cstdint>
#include <span>

#include "data/prepared_corpus.h"

namespace nmt {

/// Which side of the pairs words are explained by: p(target | source), or the other way round.
enum class PairDirection { kForward, kReversed };

/// The pieces of a corpus, its sides exchanged where that is wanted. Borrows the corpus.
class PiecePairs {
 public:
  PiecePairs(const PreparedCorpus& corpus, PairDirection direction = PairDirection::kForward)
      : corpus_(corpus), is_reversed_(direction == PairDirection::kReversed) {}

  int64_t size() const { return corpus_.size(); }
  std::span<const int32_t> source(int64_t pair) const {
    return is_reversed_ ? corpus_.target(pair) : corpus_.source(pair);
  }
  std::span<const int32_t> target(int64_t pair) const {
    return is_reversed_ ? corpus_.source(pair) : corpus_.target(pair);
  }

 private:
  const PreparedCorpus& corpus_;
  bool is_reversed_;
};

}  // namespace nmt
