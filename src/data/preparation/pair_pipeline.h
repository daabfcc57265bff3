#pragma once

#include <cstdint>
#include <functional>
#include <vector>

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
  std::function<void(EncodedPair& pair, int worker)> transform;  ///< on several threads at once
  std::function<void(EncodedPair& pair)> take;                   ///< in order, on the calling thread; may move from it
  std::function<bool()> should_stop;  ///< asked once a block of pairs, several times a second
};

/// Reads a corpus, transforms its pairs on `threads` threads and hands them out in order, in blocks: no more than a few
/// for each thread are in memory. Throws the error of the first bad pair in the order of the text, whether its reading,
/// its transformation or take() failed.
void run_pairs(CorpusReader& reader, int threads, const PairStages& stages);

}  // namespace nmt
