#include "training/batch_options.h"

#include "text/sentencepiece/subword_sampler.h"

namespace nmt {
namespace {

std::shared_ptr<const SubwordSampler> sampler(const Tokenizer& tokenizer, double bpe_dropout, double unigram_alpha,
                                              int64_t nbest) {
  if (bpe_dropout > 0) return make_bpe_dropout(tokenizer, bpe_dropout);
  if (unigram_alpha > 0) return make_unigram_sampler(tokenizer, unigram_alpha, nbest);
  return nullptr;
}

}  // namespace

BatchOptions batch_options(const Config& config, const TextCodec& codec) {
  const TrainingConfig& t = config.training;
  const auto seed = static_cast<uint64_t>(config.run.seed);
  return {.type = t.batch_type,
          .size = t.batch_size,
          .seed = seed,
          .pool_batches = t.pool_batches,
          .last_batch = t.last_batch,
          .corpus_weights = t.corpus_weights,
          // maxlen counts the end symbol and what else stands around a sentence: two at most.
          .sampling = {.source = sampler(codec.source(), t.bpe_dropout1, t.unigram_alpha1, t.unigram_nbest),
                       .target = sampler(codec.target(), t.bpe_dropout2, t.unigram_alpha2, t.unigram_nbest),
                       .seed = seed,
                       .source_prefix = codec.prefix_ids(),
                       .max_source = config.data.maxlen1 - 2,
                       .max_target = config.data.maxlen2 - 2}};
}

}  // namespace nmt
