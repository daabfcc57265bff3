#pragma once

#include <cstdint>
#include <memory>

#include "text/sentencepiece/subword_sampler.h"
#include "text/tokenizer.h"

namespace nmt {

/// Subword sampling (Kudo 2018, section 3.2): a segmentation x has probability P(x)^alpha / sum_x' P(x')^alpha, where P
/// is that of the unigram model; over all segmentations (nbest = 0, by forward filtering and backward sampling), or
/// over the `nbest` best. Throws Error where the tokenizer is no unigram model of SentencePiece.
std::unique_ptr<SubwordSampler> make_unigram_sampler(const Tokenizer& tokenizer, double alpha, int64_t nbest);

}  // namespace nmt
