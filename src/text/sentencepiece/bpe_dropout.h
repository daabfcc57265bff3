#pragma once

#include <memory>

#include "text/sentencepiece/subword_sampler.h"
#include "text/tokenizer.h"

namespace nmt {

/// BPE-dropout (Provilkov et al. 2020, algorithm 1): a word is put together from its characters again; at each step
/// each merge that is possible is left out with probability p, and the best of the others is done, until none is left.
/// Throws Error where the tokenizer is no BPE model of SentencePiece.
std::unique_ptr<SubwordSampler> make_bpe_dropout(const Tokenizer& tokenizer, double p);

}  // namespace nmt
