#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "config/config.h"
#include "text/codec/codec.h"
#include "text/corpus/cleaning.h"
#include "text/pairs/corpus_reader.h"

namespace nmt {

/// A pair on its way through nmt-prepro: first raw, then normalised, then cut into pieces.
struct EncodedPair {
  TextPair text;  ///< normalised; the target perhaps as it stands
  std::vector<int32_t> source, target;
  PairHashes hashes;  ///< of the normalised text
};

struct PairStages {
  /// On several threads at once; worker: which call of those at the same time, from 0 to the number of threads.
  std::function<void(EncodedPair& pair, int worker)> transform;
  std::function<void(EncodedPair& pair)> take;  ///< in order, on the calling thread; may move from it
  std::function<bool()> should_stop;            ///< asked once a block of pairs, several times a second
};

/// Reads a corpus, transforms its pairs on `threads` threads and hands them out in order, in blocks: no more than
/// threads + 1 are in memory. Throws the error of the first bad pair in the order of the text, whether its reading,
/// its transformation or take() failed.
void run_pairs(CorpusReader& reader, int threads, const PairStages& stages);

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
    const ContentRules* content = nullptr;  ///< fills in EncodedPair::hashes.content; null: nothing does
  };
  CorpusEncoder(const TextCodec& codec, Options options);

  /// Calls `take` for every pair, in order, on the calling thread; it may move from the pair. Stops early when
  /// should_stop() says so, which is asked once a block. Throws as run_pairs().
  void run(CorpusReader& reader, const std::function<void(EncodedPair&)>& take,
           const std::function<bool()>& should_stop) const;

 private:
  void encode(EncodedPair& pair) const;
  const TextCodec& codec_;
  Options options_;
  size_t longest_source_, longest_target_;  // bytes of texts that are encoded
};

/// Throws Error where data.source_prefix and data.source_markers leave no piece of data.maxlen1 to a sentence.
void require_room_for_sentence(const TextCodec& codec, const DataConfig& data);

/// data.too_long cut: takes off the pieces beyond data.maxlen1 and maxlen2, which count what stands around the pieces
/// (data.source_markers, and the target's end symbol). The text stays whole. Returns how many sides were cut.
int64_t cut_to_maxlen(EncodedPair& pair, const DataConfig& data);

}  // namespace nmt
