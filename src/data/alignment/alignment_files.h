#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/process/log.h"
#include "data/alignment/hmm_aligner.h"
#include "data/alignment/lexicon_training.h"
#include "data/manifest.h"
#include "data/prepared_corpus.h"
#include "text/codec/codec.h"

namespace nmt {

/// One alignment of a pair from those of its two directions: the links of both, and as long as there are such, those of
/// either beside a link for a piece that has none (Och and Ney 2003, sec. 4; Koehn et al. 2003). forward: the source
/// piece of each target piece, or less than 0. reversed: the target piece of each source piece. Ascending by target,
/// then source.
std::vector<PieceLink> grow_diagonal(std::span<const int32_t> forward, std::span<const int32_t> reversed);

/// The links of all pairs, one after the other, and where those of each end. Places are those of the corpus: a prefix
/// counts, though it has no links.
struct AlignedPairs {
  std::vector<uint64_t> ends;
  std::vector<PieceLink> links;
  /// [pairs]: the log-probabilities of both alignments, each a piece that it explains, in the mean; kWorstScore of a
  /// pair that is not aligned.
  std::vector<double> scores;
};

/// Aligns the pieces of each pair by two hidden Markov models, one a direction (grow_diagonal). Pairs of more than
/// kLongestAligned pieces on a side have no links. Memory: that of training two models, and 4 bytes a link. nullopt:
/// should_stop said so.
std::optional<AlignedPairs> align_pairs(const PiecePairs& pairs, int64_t source_vocabulary, int64_t target_vocabulary,
                                        const HmmOptions& options);

constexpr int64_t kLongestAligned = 512;

struct AlignmentFilesOptions {
  int threads = 1;
  std::function<bool()> should_stop = {};
};

/// Learns from folder/train.bin the most probable target pieces of each source piece, and writes them to lexicon.bin
/// (train_lexicon). candidates: of each piece, at most. Returns the file's SHA-256, or nothing where it was told to
/// stop.
std::optional<std::string> write_lexicon(const std::filesystem::path& folder, const TextCodec& codec,
                                         int64_t candidates, const AlignmentFilesOptions& options, Logger& log);

/// Aligns the pieces of the pairs of folder/train.bin, and writes the links to alignment.bin (align_pairs), the scores
/// to aligner.scores (pair_scores.h). train: of the manifest. Returns as write_lexicon does, of the links.
std::optional<std::string> write_alignment(const std::filesystem::path& folder, const TextCodec& codec,
                                           const SplitRecord& train, const AlignmentFilesOptions& options, Logger& log);

}  // namespace nmt
