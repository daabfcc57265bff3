#include "data/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "data/changed_pairs.h"
#include "text/tokenizer.h"

namespace nmt {

PairPieces EpochView::pieces(int64_t pair) const {
  if (!sampling_) return {Pieces(corpus_.source(pair)), Pieces(corpus_.target(pair))};
  auto own = augmented(pair);
  const bool is_augmented = own.has_value();
  Pieces source = own ? Pieces(std::move(own->source)) : Pieces(corpus_.source(pair));
  Pieces target = own ? Pieces(std::move(own->target)) : Pieces(corpus_.target(pair));
  const auto sample = [&](Pieces plain, const SubwordSampler* sampler, int64_t kept, int64_t max, uint64_t side) {
    return sampler ? sampled(std::move(plain), kept, *sampler, max, pair, side) : std::move(plain);
  };
  const auto ids = source.ids();
  const auto prefix = std::ranges::mismatch(ids, sampling_->source_prefix).in1 - ids.begin();
  return {sample(std::move(source), sampling_->source.get(), prefix, sampling_->max_source, 0),
          sample(std::move(target), sampling_->target.get(), 0, sampling_->max_target, 1), is_augmented};
}

std::optional<IdPair> EpochView::augmented(int64_t pair) const {
  if (!sampling_->augmentation.any()) return std::nullopt;
  if (changed_)
    if (auto kept = changed_->find(pair)) return kept;
  // The sides' own numbers, 0 and 1, are those of subword sampling.
  CounterRandom random({sampling_->seed, static_cast<uint64_t>(epoch_), static_cast<uint64_t>(pair), 2});
  auto changes = draw_changes(sampling_->augmentation, random);
  const int64_t next = pair + 1;
  const auto& weights = sampling_->weights;
  changes.joined = changes.joined && next < corpus_.size() && corpus_.corpus(next) == corpus_.corpus(pair) &&
                   (!weights || (*weights)[static_cast<size_t>(next)] > 0) &&
                   leading_tags(corpus_.source_text(next)) == leading_tags(corpus_.source_text(pair));
  if (!changes.any()) return std::nullopt;
  const auto text = [&](auto side) {
    return changed_text((corpus_.*side)(pair), changes.joined ? (corpus_.*side)(next) : "", changes);
  };
  const auto source = text(&PreparedCorpus::source_text), target = text(&PreparedCorpus::target_text);
  const auto& codec = sampling_->codecs[static_cast<size_t>(corpus_.corpus(pair))];
  IdPair ids{codec.encode_source(changes.typos ? with_typos(source, random) : source),
             codec.tagged_target(codec.encode_target(target))};
  const bool fits = std::ssize(ids.source) <= sampling_->max_source && std::ssize(ids.target) <= sampling_->max_target;
  if (!fits) return std::nullopt;
  if (changed_) changed_->keep(pair, ids);
  return ids;
}

Pieces EpochView::sampled(Pieces plain, int64_t kept, const SubwordSampler& sampler, int64_t max, int64_t pair,
                          uint64_t side) const {
  CounterRandom random({sampling_->seed, static_cast<uint64_t>(epoch_), static_cast<uint64_t>(pair), side});
  const auto before = plain.ids();
  auto ids = sampler.sample(before.subspan(kept), random);
  ids.insert(ids.begin(), before.begin(), before.begin() + kept);
  return std::ssize(ids) > max ? std::move(plain) : Pieces(std::move(ids));
}

namespace {

/// null: a side that is not sampled.
EpochView::Ranges ranges_of(std::span<const int32_t> plain, std::span<const int32_t> ids,
                            const SubwordSampler* sampler) {
  EpochView::Ranges ranges;
  const auto length = [&](int32_t id) { return sampler ? sampler->length(id) : 1; };
  int64_t at = 0, begin = 0, end = 0;  // bytes: where ids[at] begins, where plain pieces do
  for (const int32_t piece : plain) {
    end += length(piece);
    while (begin + length(ids[at]) <= end - length(piece)) begin += length(ids[at++]);
    int64_t last = at, last_end = begin + length(ids[at]);
    while (last_end < end) last_end += length(ids[++last]);
    ranges.emplace_back(at, last + 1);
  }
  return ranges;
}

}  // namespace

auto EpochView::source_ranges(int64_t pair, std::span<const int32_t> ids) const -> Ranges {
  return ranges_of(corpus_.source(pair), ids, sampling_ ? sampling_->source.get() : nullptr);
}

auto EpochView::target_ranges(int64_t pair, std::span<const int32_t> ids) const -> Ranges {
  return ranges_of(corpus_.target(pair), ids, sampling_ ? sampling_->target.get() : nullptr);
}

namespace {

/// A pair as batches have it: end symbols and source markers counted.
struct SizedPair {
  int64_t pair = 0, source = 0, target = 0;
  int64_t wider() const { return std::max(source, target); }
};

std::vector<SizedPair> with_sizes(const EpochView& epoch, const std::vector<int64_t>& pairs) {
  std::vector<SizedPair> sized;
  sized.reserve(pairs.size());
  for (const int64_t pair : pairs) {
    const auto pieces = epoch.pieces(pair);
    sized.push_back({.pair = pair,
                     .source = source_length(std::ssize(pieces.source.ids()), epoch.corpus().source_form().markers),
                     .target = std::ssize(pieces.target.ids()) + 1});
  }
  return sized;
}

/// Sorts by the wider side, then by how much wider the source is, rising and falling in turn: neighbours are alike on
/// both sides, also where one width ends and the next begins. Pairs of equal lengths keep their order. (On Multi30k,
/// batches of 4,096 tokens are 97 % real tokens so, and 96 % when sorted by source, then target.)
void sort_by_length(std::vector<SizedPair>& pairs) {
  const auto key = [](const SizedPair& pair) {
    const int64_t excess = pair.source - pair.target;
    return std::pair(pair.wider(), pair.wider() % 2 == 0 ? excess : -excess);
  };
  std::stable_sort(pairs.begin(), pairs.end(), [&](const SizedPair& a, const SizedPair& b) { return key(a) < key(b); });
}

/// Cuts a list where the padded size, rows x the wider side, would pass the limit.
std::vector<std::vector<int64_t>> cut_by_tokens(const std::vector<SizedPair>& pairs, int64_t limit) {
  std::vector<std::vector<int64_t>> batches;
  int64_t width = 0;  // of the batch in the making
  for (const auto& pair : pairs) {
    const int64_t wider = std::max(width, pair.wider());
    const bool fits = !batches.empty() && (std::ssize(batches.back()) + 1) * wider <= limit;
    if (!fits) batches.emplace_back();
    width = fits ? wider : pair.wider();
    batches.back().push_back(pair.pair);
  }
  return batches;
}

/// Sorts each pool by source length (equal ones keep their order).
std::vector<int64_t> sorted_in_pools(std::vector<SizedPair> pairs, const BatchOptions& options) {
  const int64_t max_batches = std::ssize(pairs) / options.size + 1;  // more make no difference
  const int64_t pool = std::min(options.pool_batches, max_batches) * options.size;
  for (int64_t begin = 0; begin < std::ssize(pairs); begin += pool) {
    const int64_t end = std::min(std::ssize(pairs), begin + pool);
    std::stable_sort(pairs.begin() + begin, pairs.begin() + end,
                     [](const SizedPair& a, const SizedPair& b) { return a.source < b.source; });
  }
  std::vector<int64_t> sorted;
  for (const auto& pair : pairs) sorted.push_back(pair.pair);
  return sorted;
}

/// Adds pairs from the beginning of a shuffled pass, so that the last batch is full.
void fill_last_batch(std::vector<int64_t>& pairs, int64_t size) {
  const auto pass = std::ssize(pairs);
  const int64_t full = (pass + size - 1) / size * size;
  for (int64_t i = 0; pass + i < full; ++i) pairs.push_back(pairs[i % pass]);
}

std::vector<std::vector<int64_t>> cut_by_sentences(const std::vector<int64_t>& pairs, const BatchOptions& options) {
  std::vector<std::vector<int64_t>> batches;
  for (int64_t begin = 0; begin < std::ssize(pairs); begin += options.size) {
    const int64_t end = std::min(std::ssize(pairs), begin + options.size);
    if (end - begin < options.size && options.last_batch == LastBatch::kDrop) break;
    batches.emplace_back(pairs.begin() + begin, pairs.begin() + end);
  }
  if (batches.empty() && !pairs.empty()) {
    throw Error(
        fmt::format("training.last_batch drop: {} training pairs do not fill one batch of {}; lower "
                    "training.batch_size",
                    pairs.size(), options.size));
  }
  return batches;
}

std::vector<int64_t> all_pairs(const PreparedCorpus& corpus) {
  std::vector<int64_t> pairs(static_cast<size_t>(corpus.size()));
  std::iota(pairs.begin(), pairs.end(), int64_t{0});
  return pairs;
}

void check_size(int64_t size) {
  if (size < 1) throw Error(fmt::format("a batch size of {}; it must be at least 1", size));
}

/// What training.corpus_weights says for the corpus of a pair, and its own weight.
double weight_of(const PreparedCorpus& corpus, const BatchOptions& options, int64_t pair) {
  const auto& weights = options.corpus_weights;
  const double own = options.sampling.weights ? (*options.sampling.weights)[static_cast<size_t>(pair)] : 1;
  if (weights.empty()) return own;
  const auto index = static_cast<size_t>(corpus.corpus(pair));
  if (index >= weights.size())
    throw Error(
        fmt::format("training.corpus_weights: has {} weights, but a pair is of corpus {}; prepare the data again",
                    weights.size(), index + 1));
  return own * weights[index];
}

void check_not_empty(const std::vector<int64_t>& pairs) {
  if (pairs.empty()) throw Error("training.corpus_weights: no pair is left to train on; raise a weight");
}

std::vector<int64_t> pairs_of_only_shard(const PreparedCorpus& corpus, const BatchOptions& options, int64_t epoch) {
  if (options.corpus_weights.empty()) return all_pairs(corpus);
  std::vector<std::vector<int64_t>> of_corpus(options.corpus_weights.size());
  for (const int64_t pair : all_pairs(corpus)) {
    weight_of(corpus, options, pair);  // there is one
    of_corpus[static_cast<size_t>(corpus.corpus(pair))].push_back(pair);
  }
  CounterRandom random({options.seed, static_cast<uint64_t>(epoch), 1});
  std::vector<int64_t> chosen;
  for (size_t i = 0; i < of_corpus.size(); ++i) {
    auto& pairs = of_corpus[i];
    const double weight = options.corpus_weights[i], whole = std::floor(weight);
    for (double copy = 0; copy < whole; ++copy) chosen.insert(chosen.end(), pairs.begin(), pairs.end());
    random.shuffle(pairs);
    const double part = (weight - whole) * static_cast<double>(pairs.size());
    int64_t count = std::lround(part);
    if (part > 0 && weight < 1 && count == 0) count = random.uniform() < part ? 1 : 0;  // or it is never seen
    chosen.insert(chosen.end(), pairs.begin(), pairs.begin() + count);
  }
  check_not_empty(chosen);
  return chosen;
}

/// One pass over the corpus, without a list of it: every shard draws the same numbers and keeps the pairs that fall to
/// it. They come in the order of the file.
std::vector<int64_t> pairs_of_one_of(int64_t shards, const PreparedCorpus& corpus, const BatchOptions& options,
                                     int64_t epoch, int64_t shard) {
  CounterRandom random({options.seed, static_cast<uint64_t>(epoch), 2});
  std::vector<int64_t> chosen;
  chosen.reserve(static_cast<size_t>(std::min(corpus.size(), options.shard_pairs + options.shard_pairs / 64)));
  for (int64_t pair = 0; pair < corpus.size(); ++pair) {
    const double weight = weight_of(corpus, options, pair), whole = std::floor(weight);
    auto copies = static_cast<int64_t>(whole);
    if (weight > whole && random.uniform() < weight - whole) ++copies;
    for (; copies > 0; --copies)
      if (static_cast<int64_t>(random.below(static_cast<uint64_t>(shards))) == shard) chosen.push_back(pair);
  }
  check_not_empty(chosen);
  return chosen;
}

using PairIds = std::pair<std::span<const int32_t>, std::span<const int32_t>>;  ///< pieces of source and target

/// Pads pairs to a batch, end symbols added.
Batch padded(std::span<const int64_t> pairs, const SourceForm& form, const std::vector<PairIds>& ids) {
  Batch batch;
  batch.size = static_cast<int64_t>(pairs.size());
  batch.indices.assign(pairs.begin(), pairs.end());
  for (const auto& [source_ids, target_ids] : ids) {
    const int64_t source = source_length(std::ssize(source_ids), form.markers), target = std::ssize(target_ids) + 1;
    batch.source_lengths.push_back(source);
    batch.target_lengths.push_back(target);
    batch.source_tokens += source;
    batch.target_tokens += target;
    batch.source_width = std::max(batch.source_width, source);
    batch.target_width = std::max(batch.target_width, target);
  }
  batch.source.assign(static_cast<size_t>(batch.size * batch.source_width), SpecialIds::kPad);
  batch.target_in.assign(static_cast<size_t>(batch.size * batch.target_width), SpecialIds::kPad);
  batch.target_out.assign(static_cast<size_t>(batch.size * batch.target_width), SpecialIds::kPad);
  for (int64_t row = 0; row < batch.size; ++row) {
    const auto& [source, target] = ids[row];
    const auto in_row = batch.target_in.begin() + row * batch.target_width;
    const auto out_row = batch.target_out.begin() + row * batch.target_width;
    write_source(source, form, batch.source.data() + row * batch.source_width);
    *in_row = SpecialIds::kBegin;
    std::copy(target.begin(), target.end(), in_row + 1);
    *std::copy(target.begin(), target.end(), out_row) = SpecialIds::kEnd;
  }
  return batch;
}

void add_links(const EpochView& epoch, const std::vector<PairPieces>& pieces, Batch& batch) {
  const auto& form = epoch.corpus().source_form();
  const int64_t first = form.markers == SourceMarkers::kBoth ? 1 : 0;
  for (int64_t row = 0; row < batch.size; ++row) {
    const auto source_ids = pieces[row].source.ids(), target_ids = pieces[row].target.ids();
    const int64_t pair = batch.indices[row], sources = std::ssize(source_ids);
    const auto links = epoch.links()->of(pair);
    if (links.empty() || pieces[row].is_augmented) continue;
    const auto of_source = epoch.source_ranges(pair, source_ids), of_target = epoch.target_ranges(pair, target_ids);
    for (const auto& [linked_source, linked_target] : links)
      for (auto [target, target_end] = of_target[linked_target]; target < target_end; ++target)
        for (auto [source, source_end] = of_source[linked_source]; source < source_end; ++source)
          batch.links.push_back(
              {.row = row, .target = target, .source = first + (form.reversed ? sources - 1 - source : source)});
  }
}

}  // namespace

int64_t shards_of_epoch(const PreparedCorpus& corpus, const BatchOptions& options) {
  if (corpus.size() <= options.shard_pairs) return 1;
  double pairs = options.corpus_weights.empty() && !options.sampling.weights ? static_cast<double>(corpus.size()) : 0;
  if (pairs == 0)
    for (int64_t pair = 0; pair < corpus.size(); ++pair) pairs += weight_of(corpus, options, pair);
  return std::max<int64_t>(1, std::llround(std::ceil(pairs / static_cast<double>(options.shard_pairs))));
}

std::vector<int64_t> pairs_of_epoch(const PreparedCorpus& corpus, const BatchOptions& options, int64_t epoch,
                                    int64_t shard) {
  if (corpus.size() <= options.shard_pairs && !options.sampling.weights)
    return pairs_of_only_shard(corpus, options, epoch);
  return pairs_of_one_of(shards_of_epoch(corpus, options), corpus, options, epoch, shard);
}

std::vector<std::vector<int64_t>> plan_epoch(const PreparedCorpus& corpus, const BatchOptions& options, int64_t epoch,
                                             int64_t shard, ChangedPairs* changed) {
  check_size(options.size);
  const bool is_whole = corpus.size() <= options.shard_pairs;
  auto random = is_whole ? CounterRandom({options.seed, static_cast<uint64_t>(epoch)})
                         : CounterRandom({options.seed, static_cast<uint64_t>(epoch), 3, static_cast<uint64_t>(shard)});
  std::vector<int64_t> pairs = pairs_of_epoch(corpus, options, epoch, shard);
  random.shuffle(pairs);
  const auto view = EpochView(corpus, options.sampling, epoch).with_changed(changed);
  std::vector<std::vector<int64_t>> batches;
  if (options.type == BatchType::kSentences) {
    if (options.last_batch == LastBatch::kFill) fill_last_batch(pairs, options.size);
    if (options.pool_batches == 0) return cut_by_sentences(pairs, options);
    batches = cut_by_sentences(sorted_in_pools(with_sizes(view, pairs), options), options);
  } else {
    auto sized = with_sizes(view, pairs);
    sort_by_length(sized);
    batches = cut_by_tokens(sized, options.size);
  }
  random.shuffle(batches);
  return batches;
}

std::vector<std::vector<int64_t>> plan_by_length(const PreparedCorpus& corpus, int64_t tokens) {
  check_size(tokens);
  auto pairs = with_sizes(corpus, all_pairs(corpus));
  sort_by_length(pairs);
  return cut_by_tokens(pairs, tokens);
}

std::vector<std::vector<int64_t>> plan_by_length(std::span<const IdPair> pairs, SourceMarkers markers, int64_t tokens) {
  check_size(tokens);
  std::vector<SizedPair> sized;
  for (const auto& [source, target] : pairs)
    sized.push_back({.pair = std::ssize(sized),
                     .source = source_length(std::ssize(source), markers),
                     .target = std::ssize(target) + 1});
  sort_by_length(sized);
  return cut_by_tokens(sized, tokens);
}

Batch make_batch(const EpochView& epoch, std::span<const int64_t> pairs) {
  std::vector<PairPieces> pieces;  // what is not in the corpus lives here
  pieces.reserve(pairs.size());
  std::vector<PairIds> ids;
  for (const int64_t pair : pairs) {
    const auto& own = pieces.emplace_back(epoch.pieces(pair));
    ids.emplace_back(own.source.ids(), own.target.ids());
  }
  auto batch = padded(pairs, epoch.corpus().source_form(), ids);
  if (epoch.links()) add_links(epoch, pieces, batch);
  return batch;
}

Batch make_batch(std::span<const IdPair> all, const SourceForm& form, std::span<const int64_t> pairs) {
  std::vector<PairIds> ids;
  for (const int64_t pair : pairs) ids.emplace_back(all[pair].source, all[pair].target);
  return padded(pairs, form, ids);
}

}  // namespace nmt
