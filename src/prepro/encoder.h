#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "text/codec/codec.h"
#include "text/pairs/corpus_reader.h"

namespace nmt {

/// A pair that was normalised and cut into pieces.
struct EncodedPair {
  TextPair text;  ///< normalised; the target perhaps as it stands
  std::vector<int32_t> source, target;
};

enum class TargetText { kNormalised, kAsItStands };

/// Encodes a corpus on all cores, a block of some thousand pairs at a time; the next block is read meanwhile.
class CorpusEncoder {
 public:
  struct Options {
    TargetText target_text = TargetText::kNormalised;  ///< what EncodedPair::text.target holds
    int threads = 1;
  };
  CorpusEncoder(const TextCodec& codec, Options options) : codec_(codec), options_(options) {}

  /// Calls `take` for every pair, in order, on the calling thread; it may move from the pair. Stops early when
  /// should_stop() says so, which is asked once a block.
  void run(CorpusReader& reader, const std::function<void(EncodedPair&)>& take,
           const std::function<bool()>& should_stop) const;

 private:
  struct Encoders;
  class EncoderPool;
  void encode(EncodedPair& pair, Encoders& encoders) const;
  const TextCodec& codec_;
  Options options_;
};

}  // namespace nmt
