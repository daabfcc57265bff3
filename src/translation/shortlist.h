#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/lexicon.h"
#include "text/codec/codec.h"

namespace nmt {

/// Which target pieces a sentence may be written with (Jean et al. 2015): the most frequent ones, the special
/// symbols and bytes, and the best translations of its source pieces; with a joint vocabulary these pieces themselves,
/// too, as names and numbers are copied.
class Shortlist {
 public:
  /// Throws Error where the lexicon holds fewer than per_piece translations a source piece.
  Shortlist(std::shared_ptr<const Lexicon> lexicon, const TextCodec& codec, int64_t per_piece, int64_t frequent);

  /// Ascending. source: pieces without markers.
  std::vector<int32_t> candidates(std::span<const int32_t> source) const;

 private:
  std::shared_ptr<const Lexicon> lexicon_;
  int64_t per_piece_;
  bool joint_;
  std::vector<int32_t> always_;
};

}  // namespace nmt
