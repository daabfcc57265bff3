#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "text/tokenizer.h"

namespace nmt {

/// Cuts a sentence into other pieces each time: subword regularisation. SentencePiece's own sampling draws from a
/// generator that no caller can seed for a sentence; here the result is a function of the sentence and `random` alone.
/// Thread-safe.
class SubwordSampler {
 public:
  virtual ~SubwordSampler() = default;
  /// plain: the pieces that the tokenizer gives. <unk>, bytes and user symbols stay as they are.
  virtual std::vector<int32_t> sample(std::span<const int32_t> plain, CounterRandom& random) const = 0;
  /// Bytes of a piece. Those of a sentence are as many in every segmentation.
  int64_t length(int32_t id) const { return lengths_[static_cast<size_t>(id)]; }

 protected:
  explicit SubwordSampler(std::vector<int64_t> lengths) : lengths_(std::move(lengths)) {}

 private:
  std::vector<int64_t> lengths_;
};

/// BPE-dropout (Provilkov et al. 2020, algorithm 1): a word is put together from its characters again; at each step
/// each merge that is possible is left out with probability p, and the best of the others is done, until none is left.
/// Throws Error where the tokenizer is no BPE model of SentencePiece.
std::unique_ptr<SubwordSampler> make_bpe_dropout(const Tokenizer& tokenizer, double p);

/// Subword sampling (Kudo 2018, section 3.2): a segmentation x has probability P(x)^alpha / sum_x' P(x')^alpha, where P
/// is that of the unigram model; over all segmentations (nbest = 0, by forward filtering and backward sampling), or
/// over the `nbest` best. Throws Error where the tokenizer is no unigram model of SentencePiece.
std::unique_ptr<SubwordSampler> make_unigram_sampler(const Tokenizer& tokenizer, double alpha, int64_t nbest);

}  // namespace nmt
