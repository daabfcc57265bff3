#include "training/batch_options.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <vector>

#include "base/error.h"
#include "config/languages.h"
#include "text/codec/language_tags.h"
#include "text/sentencepiece/subword_sampler.h"

namespace nmt {
namespace {

constexpr double kMostCopies = 1000;  // as of training.corpus_weights: the plan of an epoch lists each

std::shared_ptr<const SubwordSampler> sampler(const Tokenizer& tokenizer, double bpe_dropout, double unigram_alpha,
                                              int64_t nbest) {
  if (bpe_dropout > 0) return make_bpe_dropout(tokenizer, bpe_dropout);
  if (unigram_alpha > 0) return make_unigram_sampler(tokenizer, unigram_alpha, nbest);
  return nullptr;
}

/// How many pairs of each corpus are trained on where each is taken as often as it weighs.
std::vector<double> sizes_of_corpora(const DataConfig& config, const PreparedData& data) {
  std::vector<double> sizes(config.train1.size() + config.train_tsv.size());
  for (int64_t pair = 0; pair < data.train->size(); ++pair)
    sizes.at(static_cast<size_t>(data.train->corpus(pair))) +=
        data.selection.weights ? (*data.selection.weights)[static_cast<size_t>(pair)] : 1;
  return sizes;
}

/// How often an epoch has the pairs of each corpus, so that all are at their shares and the first one is whole.
std::vector<double> weights_of(const TrainingStage& stage, const DataConfig& data, const std::vector<double>& sizes) {
  std::vector<double> weights(sizes.size());
  const auto size_of = [&](const std::string& name) {
    return sizes[static_cast<size_t>(corpora_named(data, name).front())];
  };
  const auto& [first, first_share] = stage.shares.front();
  for (const auto& [name, share] : stage.shares) {
    const double size = size_of(name), weight = share / first_share * (size_of(first) / size);
    if (size == 0)
      throw Error(fmt::format("training.stages: {} has no pairs; see what nmt-prepro or data.keep_best dropped", name));
    if (weight > kMostCopies)
      throw Error(
          fmt::format("training.stages: an epoch of {} would have each pair of {} {:.0f} times; name a smaller "
                      "corpus first, or give other shares",
                      first, name, weight));
    weights[static_cast<size_t>(corpora_named(data, name).front())] = weight;
  }
  return weights;
}

/// training.corpus_temperature: an epoch is as long as before, with other shares.
std::vector<double> tempered_weights(const Config& config, const PreparedData& data) {
  const double temperature = config.training.corpus_temperature;
  if (temperature == 1) return config.training.corpus_weights;
  auto weights = sizes_of_corpora(config.data, data);
  double pairs = 0, shares = 0;
  for (const double size : weights) pairs += size, shares += std::pow(size, 1 / temperature);
  for (size_t corpus = 0; double& weight : weights) {
    if (weight > 0) weight = pairs * std::pow(weight, 1 / temperature) / shares / weight;
    if (weight > kMostCopies)
      throw Error(
          fmt::format("training.corpus_temperature: an epoch would have each pair of corpus {} {:.0f} times; lower it, "
                      "or leave that corpus out",
                      corpus + 1, weight));
    ++corpus;
  }
  return weights;
}

/// The codec of each training corpus: changed text has the tag of the text.
std::vector<TextCodec> codecs_of_corpora(const DataConfig& config, const TextCodec& codec) {
  std::vector<TextCodec> codecs;
  for (size_t corpus = 0; corpus < config.train1.size() + config.train_tsv.size(); ++corpus)
    codecs.push_back(codec_for(codec, of_corpus(config, corpus)));
  return codecs;
}

std::vector<BatchStage> stages_of(const Config& config, const PreparedData& data) {
  std::vector<BatchStage> stages;
  if (config.training.stages.empty()) return stages;
  const auto sizes = sizes_of_corpora(config.data, data);
  for (const auto& stage : config.training.stages)
    stages.push_back({.corpus_weights = weights_of(stage, config.data, sizes),
                      .epochs = stage.end == StageEnd::kEpochs ? stage.limit : 0});
  return stages;
}

}  // namespace

BatchOptions batch_options(const Config& config, const PreparedData& data) {
  const TrainingConfig& t = config.training;
  const auto seed = static_cast<uint64_t>(config.run.seed);
  const TextCodec& codec = data.codec;
  auto stages = stages_of(config, data);
  return {.type = t.batch_type,
          .size = t.batch_size,
          .seed = seed,
          .pool_batches = t.pool_batches,
          .last_batch = t.last_batch,
          .corpus_weights = stages.empty() ? tempered_weights(config, data) : stages.front().corpus_weights,
          .stages = std::move(stages),
          // maxlen counts the end symbol and what else stands around a sentence: two at most.
          .sampling = {.weights = data.selection.weights,
                       .source = sampler(codec.source(), t.bpe_dropout1, t.unigram_alpha1, t.unigram_nbest),
                       .target = sampler(codec.target(), t.bpe_dropout2, t.unigram_alpha2, t.unigram_nbest),
                       .augmentation = {.upper = t.augment_upper,
                                        .title = t.augment_title,
                                        .typos = t.augment_typos,
                                        .no_end_mark = t.augment_no_end_mark,
                                        .joined = t.augment_joined},
                       .codecs = codecs_of_corpora(config.data, codec),
                       .seed = seed,
                       .source_prefix = codec.prefix_ids(),
                       .max_source = config.data.maxlen1 - 2,
                       .max_target = config.data.maxlen2 - 2},
          .links = t.guided_alignment > 0 ? data.alignment : nullptr};
}

}  // namespace nmt
