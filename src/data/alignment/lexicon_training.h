#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "data/alignment/piece_pairs.h"

namespace nmt {

struct LexiconOptions {
  int64_t candidates = 50;  ///< translations kept of each source piece
  int iterations = 5;       ///< of expectation maximisation
  int threads = 1;          ///< the result does not depend on them
  /// Translations of a source piece that take part in the iterations, those of the highest expected counts in the first
  /// one; 0 = four times the candidates, at least 256.
  int64_t kept = 0;
  std::function<bool()> should_stop = [] { return false; };
  std::function<void(int64_t pairs_done, int64_t pairs)> progress = {};  ///< over all iterations
};

struct PieceTranslation {
  int32_t target = 0;
  float probability = 0;  ///< p(target | source piece)
};

/// What the training pairs say of pieces.
struct PieceTranslations {
  std::vector<std::vector<PieceTranslation>> best;  ///< by source piece, the most probable first
  std::vector<int32_t> frequent;                    ///< all target pieces, the most frequent first
  std::vector<float> of_empty;                      ///< p(target | the empty word)
};

/// IBM Model 1 (Brown et al. 1993, sec. 4.1): p(t | s) of pieces from sentence pairs, each of whose sources has an
/// empty word too, from uniform probabilities. Translations below 1e-4 are left out. All sums are made in the order of
/// the pairs, each by one thread. Memory: some 30 bytes for each of at most `kept` translations of each source piece,
/// and 300 MB. Ids must be below the sizes of the vocabularies. nullopt: should_stop said so.
std::optional<PieceTranslations> train_lexicon(const PiecePairs& pairs, int64_t source_vocabulary,
                                               int64_t target_vocabulary, const LexiconOptions& options);

}  // namespace nmt
