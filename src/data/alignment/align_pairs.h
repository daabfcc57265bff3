#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/alignment/hmm_aligner.h"
#include "data/alignment/piece_pairs.h"
#include "data/alignment/symmetrize.h"
#include "data/piece_links.h"

namespace nmt {

/// The links of all pairs, one after the other, and where those of each end. Places are those of the corpus: a prefix
/// counts, though it has no links.
struct AlignedPairs {
  std::vector<uint64_t> ends;
  std::vector<PieceLink> links;
};

/// Aligns the pieces of each pair by two hidden Markov models, one a direction, made one by `how`. Pairs of more than
/// kLongestAligned pieces on a side have no links. Memory: that of training two models, and 4 bytes a link. nullopt:
/// should_stop said so.
std::optional<AlignedPairs> align_pairs(const PiecePairs& pairs, int64_t source_vocabulary, int64_t target_vocabulary,
                                        const HmmOptions& options, Symmetrization how = Symmetrization::kGrowDiagonal);

constexpr int64_t kLongestAligned = 512;

}  // namespace nmt
