#pragma once

#include <cstdint>
#include <span>

#include "data/prepared_corpus.h"
#include "text/codec/codec.h"

namespace nmt {

/// Which side of the pairs words are explained by: p(target | source), or the other way round.
enum class PairDirection { kForward, kReversed };

/// The sentences' own pieces of a corpus, its sides exchanged where that is wanted. Borrows the corpus and the codec.
class PiecePairs {
 public:
  /// codec: of the corpus, whose source_prefix is left out: it is no word of any pair. nullptr: there is none.
  PiecePairs(const PreparedCorpus& corpus, PairDirection direction = PairDirection::kForward,
             const TextCodec* codec = nullptr)
      : corpus_(corpus), codec_(codec), is_reversed_(direction == PairDirection::kReversed) {}

  int64_t size() const { return corpus_.size(); }
  std::span<const int32_t> source(int64_t pair) const { return is_reversed_ ? corpus_.target(pair) : own(pair); }
  std::span<const int32_t> target(int64_t pair) const { return is_reversed_ ? own(pair) : corpus_.target(pair); }
  /// How many pieces of the corpus' source are left out.
  int64_t prefix_length(int64_t pair) const { return codec_ ? codec_->prefix_length(corpus_.source(pair)) : 0; }
  PiecePairs exchanged() const {
    return {corpus_, is_reversed_ ? PairDirection::kForward : PairDirection::kReversed, codec_};
  }

 private:
  std::span<const int32_t> own(int64_t pair) const { return corpus_.source(pair).subspan(prefix_length(pair)); }

  const PreparedCorpus& corpus_;
  const TextCodec* codec_;
  bool is_reversed_;
};

}  // namespace nmt
