#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "data/prepared_corpus.h"
#include "text/codec/codec.h"
#include "text/codec/language_tags.h"

namespace nmt {

/// Which side of the pairs words are explained by: p(target | source), or the other way round.
enum class PairDirection { kForward, kReversed };

/// The sentences' own pieces of a corpus, its sides exchanged where that is wanted. Borrows the corpus and the codec.
class PiecePairs {
 public:
  /// codec: of the corpus. Its source_prefix, or the tag of a language that begins a source, is left out: it is no
  /// word of any pair. nullptr: there is none.
  PiecePairs(const PreparedCorpus& corpus, PairDirection direction = PairDirection::kForward,
             const TextCodec* codec = nullptr)
      : corpus_(corpus),
        codec_(codec),
        tags_(codec ? tag_pieces(*codec) : std::vector<int32_t>()),
        is_reversed_(direction == PairDirection::kReversed) {}

  int64_t size() const { return corpus_.size(); }
  std::span<const int32_t> source(int64_t pair) const { return is_reversed_ ? corpus_.target(pair) : own(pair); }
  std::span<const int32_t> target(int64_t pair) const { return is_reversed_ ? own(pair) : corpus_.target(pair); }
  /// How many pieces of the corpus' source are left out.
  int64_t prefix_length(int64_t pair) const {
    const auto source = corpus_.source(pair);
    if (!source.empty() && std::ranges::binary_search(tags_, source.front())) return 1;
    return codec_ ? codec_->prefix_length(source) : 0;
  }
  PiecePairs exchanged() const {
    return {corpus_, is_reversed_ ? PairDirection::kForward : PairDirection::kReversed, codec_};
  }

 private:
  std::span<const int32_t> own(int64_t pair) const { return corpus_.source(pair).subspan(prefix_length(pair)); }

  const PreparedCorpus& corpus_;
  const TextCodec* codec_;
  std::vector<int32_t> tags_;
  bool is_reversed_;
};

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
