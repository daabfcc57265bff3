#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "config/kinds.h"
#include "data/changed_pairs.h"
#include "data/prepared_corpus.h"
#include "text/augmentation.h"
#include "text/codec/codec.h"
#include "text/sentencepiece/subword_sampler.h"

namespace nmt {

/// A target piece of a row and a source token that say the same: places in the padded rows, without <s>.
struct BatchLink {
  int64_t row = 0, target = 0, source = 0;
};

/// Sentence pairs padded to rectangles, row-major. Lengths count the end symbol, and what else stands around a source.
struct Batch {
  int64_t size = 0;                     ///< sentences
  int64_t source_width = 0;             ///< padded
  int64_t target_width = 0;             ///< padded
  std::vector<int64_t> indices;         ///< [batch] in the corpus
  std::vector<int64_t> source;          ///< [batch, source] pieces </s> <pad>..., or as write_source() has it
  std::vector<int64_t> target_in;       ///< [batch, target] <s> pieces <pad>...
  std::vector<int64_t> target_out;      ///< [batch, target] pieces </s> <pad>...
  std::vector<int64_t> source_lengths;  ///< [batch] real tokens
  std::vector<int64_t> target_lengths;  ///< [batch]
  std::vector<BatchLink> links = {};    ///< ascending by row; none where the pairs are not aligned
  int64_t source_tokens = 0;            ///< real tokens of all rows
  int64_t target_tokens = 0;
};

/// What an epoch makes of training pairs: the text of some is changed and encoded again, then pieces are sampled
/// (subword regularisation). The pieces of pair i in epoch e are a function of (corpus, weights, seed, e, i, side).
struct PairSampling {
  /// How often an epoch has each pair, times the weight of its corpus; a fraction is a probability. null: once each. No
  /// pair is joined with one of weight 0.
  std::shared_ptr<const std::vector<float>> weights = {};
  std::shared_ptr<const SubwordSampler> source = {}, target = {};  ///< null: that side keeps its pieces
  AugmentationRates augmentation = {};
  /// The way of changed texts, one for each training corpus; may be empty where augmentation has no rates.
  std::vector<TextCodec> codecs = {};
  uint64_t seed = 1;
  std::vector<int32_t> source_prefix = {};  ///< data.source_prefix; the leading pieces that are of it stay as they are
  /// Most pieces of a side; a sentence whose sample has more keeps its own pieces, and a pair whose changed text has
  /// more keeps its text.
  int64_t max_source = 1 << 20, max_target = 1 << 20;
};

/// The ids of one side of a pair: in the corpus, or of their own.
class Pieces {
 public:
  explicit Pieces(std::span<const int32_t> ids) : ids_(ids) {}
  explicit Pieces(std::vector<int32_t> own) : own_(std::move(own)), ids_(own_) {}
  Pieces(Pieces&&) = default;  // a vector that moves keeps its elements where they are
  std::span<const int32_t> ids() const { return ids_; }

 private:
  std::vector<int32_t> own_;
  std::span<const int32_t> ids_;
};

/// Both sides of a pair as an epoch sees them.
struct PairPieces {
  Pieces source, target;
  bool is_augmented = false;  ///< of another text than the corpus has
};

/// A corpus as one epoch sees it. Cheap to make; the corpus outlives it. Thread-safe but with_changed().
class EpochView {
 public:
  /// The pieces as they were prepared.
  EpochView(const PreparedCorpus& corpus) : corpus_(corpus) {}
  /// The pieces of an epoch (from 0) under sampling.
  EpochView(const PreparedCorpus& corpus, const PairSampling& sampling, int64_t epoch)
      : corpus_(corpus), sampling_(&sampling), epoch_(epoch) {}

  /// Keeps the changed pairs of this epoch there and takes them from there; null: encodes them each time. Others that
  /// it has must be of this epoch.
  EpochView& with_changed(ChangedPairs* changed) {
    changed_ = changed;
    return *this;
  }

  /// With the links of the pairs as they were prepared. Under subword sampling each goes to all pieces that have some
  /// of the linked pieces' text; augmented pairs have none.
  EpochView& with_links(const PieceLinks* links) {
    links_ = links;
    return *this;
  }

  const PreparedCorpus& corpus() const { return corpus_; }
  const PieceLinks* links() const { return links_; }  ///< null where the pairs are not aligned
  PairPieces pieces(int64_t pair) const;
  /// For each piece that was prepared the first and the end of the epoch's own pieces `ids` that have some of its text.
  using Ranges = std::vector<std::pair<int64_t, int64_t>>;
  Ranges source_ranges(int64_t pair, std::span<const int32_t> ids) const;
  Ranges target_ranges(int64_t pair, std::span<const int32_t> ids) const;

 private:
  /// nullopt: this epoch has the pair's own text.
  std::optional<IdPair> augmented(int64_t pair) const;
  /// Samples what stands behind the first `kept` pieces.
  Pieces sampled(Pieces plain, int64_t kept, const SubwordSampler& sampler, int64_t max, int64_t pair,
                 uint64_t side) const;

  const PreparedCorpus& corpus_;
  const PairSampling* sampling_ = nullptr;
  int64_t epoch_ = 0;
  const PieceLinks* links_ = nullptr;
  ChangedPairs* changed_ = nullptr;
};

/// A part of a training with a mix of corpora of its own.
struct BatchStage {
  std::vector<double> corpus_weights = {};
  int64_t epochs = 0;  ///< the next one begins after so many; 0: where BatchStream::begin_next_stage() says so
};

struct BatchOptions {
  BatchType type = BatchType::kTokens;
  int64_t size =
      4096;  ///< sentences, or tokens: rows x (the wider of both padded sides, end symbols counted) stay within it
  uint64_t seed = 1;
  int64_t pool_batches = 0;                 ///< sentences: see plan_epoch; 0 = none
  LastBatch last_batch = LastBatch::kKeep;  ///< sentences
  /// How often an epoch has the pairs of each corpus: 2.5 is twice, and half of them, chosen again each epoch, once
  /// more. Empty: once each.
  std::vector<double> corpus_weights = {};
  /// A BatchStream goes through them, each with its own weights in place of corpus_weights; empty: one without end.
  std::vector<BatchStage> stages = {};
  PairSampling sampling = {};
  std::shared_ptr<const PieceLinks> links = {};  ///< null: batches have none
  /// An epoch of a corpus with more pairs is planned in shards of about so many (see plan_epoch): a plan takes some 60
  /// bytes a pair. Who changes the default changes the order of the batches of large corpora.
  int64_t shard_pairs = 4'000'000;
};

/// How many shards each epoch has: 1 for a corpus of at most options.shard_pairs pairs.
int64_t shards_of_epoch(const PreparedCorpus& corpus, const BatchOptions& options);

/// The pairs of one shard of an epoch, unsorted. An epoch has those of every corpus as often as its weight says. A
/// function of (corpus, weights, seed, epoch, shard).
std::vector<int64_t> pairs_of_epoch(const PreparedCorpus& corpus, const BatchOptions& options, int64_t epoch,
                                    int64_t shard = 0);

/// The batches of one shard of an epoch as indices into the corpus; order is a function of (corpus, options, epoch,
/// shard) alone. Where there are several shards, chance says for each pair, in every epoch again, in which one it
/// stands; each is a sample of the whole corpus, of about the same size, and is planned as an epoch of its own. Lengths
/// are those of the epoch's own pieces.
/// Sentences: a shuffled pass cut into batches, the last one short, dropped, or filled with the first pairs of the
/// pass. With pools, the pass is first cut into pools of so many batches, each of which is sorted by source length, and
/// the batches are shuffled (the bucket iterator of torchtext; Bahdanau et al. 2015, appendix B: pools of 20 batches).
/// Tokens: a shuffled pass sorted by length, cut where the padded size would pass the limit, and the batches shuffled.
/// Only pairs of equal length are in shuffled order: without subword sampling, which changes lengths, the batches of
/// the same pairs differ no more than that from epoch to epoch. A pair longer than the limit is a batch of its own.
/// changed: gets what the epoch changes, for its batches.
std::vector<std::vector<int64_t>> plan_epoch(const PreparedCorpus& corpus, const BatchOptions& options, int64_t epoch,
                                             int64_t shard = 0, ChangedPairs* changed = nullptr);

/// Batches in corpus order of length (for validation loss and decoding): at most `tokens` padded tokens each.
std::vector<std::vector<int64_t>> plan_by_length(const PreparedCorpus& corpus, int64_t tokens);

/// Pads the pairs to a batch, end symbols added.
Batch make_batch(const EpochView& epoch, std::span<const int64_t> pairs);

/// The same plan and the same batches of such pairs, with their places as indices.
std::vector<std::vector<int64_t>> plan_by_length(std::span<const IdPair> pairs, SourceMarkers markers, int64_t tokens);
Batch make_batch(std::span<const IdPair> all, const SourceForm& form, std::span<const int64_t> pairs);

}  // namespace nmt
