#pragma once

#include <functional>

#include "data/preparation/pair_pipeline.h"
#include "text/codec/codec.h"

namespace nmt {

enum class TargetText { kNormalised, kAsItStands };

/// Encodes a corpus on all cores, while it is read and while its pairs are taken.
class CorpusEncoder {
 public:
  struct Options {
    TargetText target_text = TargetText::kNormalised;  ///< what EncodedPair::text.target holds
    int threads = 1;
    /// Pieces of a side that is kept. A text that cannot have so few is not encoded, which would take time and memory
    /// by its length: it gets one id more than these. 0: every text is encoded.
    int64_t most_source_pieces = 0, most_target_pieces = 0;
  };
  CorpusEncoder(const TextCodec& codec, Options options);

  /// Calls `take` for every pair, in order, on the calling thread; it may move from the pair. Stops early when
  /// should_stop() says so, which is asked once a block. Throws as run_pairs().
  void run(CorpusReader& reader, const std::function<void(EncodedPair&)>& take,
           const std::function<bool()>& should_stop) const;

 private:
  struct Encoders;
  void encode(EncodedPair& pair, Encoders& encoders) const;
  const TextCodec& codec_;
  Options options_;
  size_t longest_source_, longest_target_;  // bytes of texts that are encoded
};

}  // namespace nmt
