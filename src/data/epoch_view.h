#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/piece_links.h"
#include "data/prepared_corpus.h"
#include "text/sentencepiece/subword_sampler.h"

namespace nmt {

/// Subword regularisation of training pairs: the pieces of pair i in epoch e are a function of (seed, e, i, side).
struct SubwordSampling {
  std::shared_ptr<const SubwordSampler> source = {}, target = {};  ///< null: that side keeps its pieces
  uint64_t seed = 1;
  std::vector<int32_t> source_prefix = {};  ///< data.source_prefix; the leading pieces that are of it stay as they are
  /// Most pieces of a side; a sentence whose sample has more keeps its own pieces.
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

/// A corpus as one epoch sees it. Cheap to make; the corpus outlives it. Thread-safe.
class EpochView {
 public:
  /// The pieces as they were prepared.
  EpochView(const PreparedCorpus& corpus) : corpus_(corpus) {}
  /// Those of an epoch (from 0) under subword sampling.
  EpochView(const PreparedCorpus& corpus, const SubwordSampling& sampling, int64_t epoch)
      : corpus_(corpus), sampling_(&sampling), epoch_(epoch) {}

  /// With the links of the pairs as they were prepared: not under subword sampling.
  EpochView& with_links(const PieceLinks* links) {
    links_ = links;
    return *this;
  }

  const PreparedCorpus& corpus() const { return corpus_; }
  const PieceLinks* links() const { return links_; }  ///< null where the pairs are not aligned
  Pieces source(int64_t pair) const;
  Pieces target(int64_t pair) const;

 private:
  /// Samples what stands behind the first `kept` pieces.
  Pieces sampled(std::span<const int32_t> plain, int64_t kept, const SubwordSampler& sampler, int64_t max, int64_t pair,
                 uint64_t side) const;

  const PreparedCorpus& corpus_;
  const SubwordSampling* sampling_ = nullptr;
  int64_t epoch_ = 0;
  const PieceLinks* links_ = nullptr;
};

}  // namespace nmt
