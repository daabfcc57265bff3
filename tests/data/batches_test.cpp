#include "data/batches.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <set>

#include "base/error.h"
#include "data/corpora.h"

namespace nmt::batches_test {
namespace {

using test::corpus_of;
using test::message_of;
using test::PairLengths;
using test::TemporaryDirectory;
using testing::ElementsAre;

using Plan = std::vector<std::vector<int64_t>>;

/// 200 pairs of 0 to 30 pieces.
std::shared_ptr<const PreparedCorpus> varied_corpus(const TemporaryDirectory& folder) {
  std::vector<PairLengths> lengths;
  for (int i = 0; i < 200; ++i) lengths.push_back({i * 7 % 31, std::max(0, i * 7 % 31 + i % 5 - 2)});
  return corpus_of(folder / "train.bin", lengths);
}

std::vector<int64_t> sorted_pairs(const Plan& plan) {
  std::vector<int64_t> pairs;
  for (const auto& batch : plan) pairs.insert(pairs.end(), batch.begin(), batch.end());
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

std::vector<int64_t> range(int64_t size) {
  std::vector<int64_t> all(static_cast<size_t>(size));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  return all;
}

TEST(PlanEpoch, EveryPairStandsInItOnce) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  for (const auto type : {BatchType::kSentences, BatchType::kTokens}) {
    for (const int64_t size : {1, 16, 100, 100000}) {
      for (int64_t epoch = 0; epoch < 3; ++epoch) {
        EXPECT_EQ(sorted_pairs(plan_epoch(*corpus, {type, size, 5}, epoch)), range(200));
      }
    }
  }
}

TEST(PlanByLength, IsTheSameForPairsInMemory) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  std::vector<IdPair> pairs;
  for (int64_t i = 0; i < corpus->size(); ++i) {
    const auto source = corpus->source(i), target = corpus->target(i);
    pairs.push_back({{source.begin(), source.end()}, {target.begin(), target.end()}});
  }
  const auto plan = plan_by_length(pairs, SourceMarkers::kEnd, 300);
  EXPECT_EQ(plan, plan_by_length(*corpus, 300));
  for (const auto& batch : plan) {
    const auto found = make_batch(pairs, SourceMarkers::kEnd, batch), expected = make_batch(*corpus, batch);
    EXPECT_EQ(found.indices, expected.indices);
    EXPECT_EQ(found.source, expected.source);
    EXPECT_EQ(found.target_in, expected.target_in);
    EXPECT_EQ(found.target_out, expected.target_out);
    EXPECT_EQ(found.target_lengths, expected.target_lengths);
    EXPECT_EQ(found.source_tokens, expected.source_tokens);
  }
  EXPECT_EQ(make_batch(pairs, SourceMarkers::kNone, plan.back()).source_lengths.back(),
            make_batch(pairs, SourceMarkers::kEnd, plan.back()).source_lengths.back() - 1);
}

/// The corpora of corpus_of are those of pair i % 3: 67, 67 and 66 pairs.
TEST(PairsOfEpoch, AreAsOftenThereAsTheirCorpusWeighs) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  BatchOptions options{BatchType::kTokens, 100, 5};
  options.corpus_weights = {2.5, 0, 0.25};
  std::set<std::vector<int64_t>> different;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    const auto pairs = pairs_of_epoch(*corpus, options, epoch);
    EXPECT_EQ(pairs, pairs_of_epoch(*corpus, options, epoch));
    std::vector<int> times(200);
    for (const auto pair : pairs) ++times[pair];
    int thrice = 0, once = 0;
    for (int64_t pair = 0; pair < 200; ++pair) {
      const int min[] = {2, 0, 0}, max[] = {3, 0, 1};
      EXPECT_GE(times[pair], min[pair % 3]) << pair;
      EXPECT_LE(times[pair], max[pair % 3]) << pair;
      thrice += times[pair] == 3, once += times[pair] == 1;
    }
    EXPECT_EQ(thrice, 34);  // half of 67, rounded
    EXPECT_EQ(once, 17);    // a quarter of 66, rounded
    auto planned = sorted_pairs(plan_epoch(*corpus, options, epoch)), sorted = pairs;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(planned, sorted);
    different.insert(sorted);
  }
  EXPECT_EQ(different.size(), 3u) << "another half each epoch";
}

// Less than half a pair an epoch: once it was none in any.
TEST(PairsOfEpoch, AreSeldomOfACorpusOfATinyWeight) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  BatchOptions options{BatchType::kTokens, 100, 5};
  options.corpus_weights = {1, 0.25 / 67, 0};
  int64_t extra = 0;
  for (int64_t epoch = 0; epoch < 200; ++epoch) extra += std::ssize(pairs_of_epoch(*corpus, options, epoch)) - 67;
  EXPECT_NEAR(static_cast<double>(extra), 50, 25);
}

/// In one shard and in several: the pairs of weight 1 and 0 for sure, the others by chance.
TEST(PairsOfEpoch, AreAsOftenThereAsTheyWeigh) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  std::vector<float> weights(200, 1);
  for (size_t pair = 0; pair < 200; ++pair) weights[pair] = pair < 50 ? 0 : pair < 100 ? 0.3F : pair < 150 ? 1 : 1.5F;
  for (const int64_t shard_pairs : {4'000'000, 60}) {
    BatchOptions options{BatchType::kTokens, 100, 5};
    options.sampling.weights = std::make_shared<const std::vector<float>>(weights);
    options.shard_pairs = shard_pairs;
    std::vector<int> times(200);
    constexpr int64_t kEpochs = 40;
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch)
      for (int64_t shard = 0; shard < shards_of_epoch(*corpus, options); ++shard) {
        const auto pairs = pairs_of_epoch(*corpus, options, epoch, shard);
        EXPECT_EQ(pairs, pairs_of_epoch(*corpus, options, epoch, shard));
        for (const auto pair : pairs) ++times[static_cast<size_t>(pair)];
      }
    const auto sum = [&](int from) { return std::accumulate(times.begin() + from, times.begin() + from + 50, 0); };
    EXPECT_EQ(sum(0), 0);
    EXPECT_NEAR(sum(50), 0.3 * 50 * kEpochs, 80);
    EXPECT_EQ(sum(100), 50 * kEpochs);
    EXPECT_NEAR(sum(150), 1.5 * 50 * kEpochs, 80);
  }
  BatchOptions both{BatchType::kTokens, 100, 5};
  both.sampling.weights = std::make_shared<const std::vector<float>>(weights);
  both.corpus_weights = {2, 0, 0};
  for (const auto pair : pairs_of_epoch(*corpus, both, 0)) EXPECT_EQ(pair % 3, 0) << "times that of its corpus";
}

TEST(PairsOfEpoch, RefuseWeightsThatDoNotFit) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  const auto message = [&](std::vector<double> weights) {
    return message_of<Error>([&] { plan_epoch(*corpus, {.size = 100, .corpus_weights = weights}, 0); });
  };
  EXPECT_EQ(message({1, 1}),
            "training.corpus_weights: has 2 weights, but a pair is of corpus 3; prepare the data again");
  EXPECT_EQ(message({0.001, 0, 0}), "training.corpus_weights: no pair is left to train on; raise a weight");
}

TEST(PlanEpoch, IsAFunctionOfSeedAndEpoch) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  for (const auto type : {BatchType::kSentences, BatchType::kTokens}) {
    const auto plan = plan_epoch(*corpus, {type, 64, 5}, 2);
    EXPECT_EQ(plan, plan_epoch(*corpus, {type, 64, 5}, 2));
    EXPECT_NE(plan, plan_epoch(*corpus, {type, 64, 5}, 3));
    EXPECT_NE(plan, plan_epoch(*corpus, {type, 64, 6}, 2));
  }
}

// Golden: a restart on another machine, or with another compiler, has to continue with the same batches.
TEST(PlanEpoch, HasTheseFirstBatches) {
  const TemporaryDirectory folder;
  const auto corpus =
      corpus_of(folder / "x.bin", {{3, 4}, {1, 1}, {5, 2}, {3, 4}, {2, 2}, {9, 9}, {0, 0}, {3, 4}, {1, 2}, {5, 5}});
  EXPECT_EQ(plan_epoch(*corpus, {BatchType::kSentences, 4, 1}, 0), (Plan{{6, 1, 5, 7}, {4, 0, 8, 2}, {3, 9}}));
  // Sorted by the wider side, then by source - target, rising or falling: 6 | 1 | 4 8 | 0 3 7 in any order | 9 2 | 5.
  EXPECT_EQ(plan_epoch(*corpus, {BatchType::kTokens, 16, 1}, 0), (Plan{{9, 2}, {5}, {7, 0, 3}, {6, 1, 4, 8}}));
  EXPECT_EQ(plan_epoch(*corpus, {BatchType::kTokens, 16, 1}, 1), (Plan{{7, 3, 0}, {6, 1, 4, 8}, {5}, {9, 2}}));
}

/// The varied corpus in shards of about 30 pairs.
BatchOptions in_shards(BatchType type, uint64_t seed = 5) {
  return {.type = type, .size = type == BatchType::kTokens ? 64 : 4, .seed = seed, .shard_pairs = 30};
}

std::vector<Plan> plans_of_epoch(const PreparedCorpus& corpus, const BatchOptions& options, int64_t epoch) {
  std::vector<Plan> plans;
  for (int64_t shard = 0; shard < shards_of_epoch(corpus, options); ++shard)
    plans.push_back(plan_epoch(corpus, options, epoch, shard));
  return plans;
}

std::vector<int64_t> sorted_pairs(const std::vector<Plan>& plans) {
  Plan joined;
  for (const auto& plan : plans) joined.insert(joined.end(), plan.begin(), plan.end());
  return sorted_pairs(joined);
}

TEST(Shards, EveryPairStandsInOneOfAnEpoch) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  for (const auto type : {BatchType::kSentences, BatchType::kTokens}) {
    const auto options = in_shards(type);
    ASSERT_EQ(shards_of_epoch(*corpus, options), 7);
    for (int64_t epoch = 0; epoch < 20; ++epoch) {
      const auto plans = plans_of_epoch(*corpus, options, epoch);
      EXPECT_EQ(sorted_pairs(plans), range(200));
      for (const auto& plan : plans) EXPECT_NEAR(static_cast<double>(sorted_pairs(plan).size()), 200.0 / 7, 20);
    }
  }
}

TEST(Shards, AreAFunctionOfSeedAndEpoch) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  for (const auto type : {BatchType::kSentences, BatchType::kTokens}) {
    const auto plans = plans_of_epoch(*corpus, in_shards(type), 2);
    EXPECT_EQ(plans, plans_of_epoch(*corpus, in_shards(type), 2));
    const auto later = plans_of_epoch(*corpus, in_shards(type), 3),
               other = plans_of_epoch(*corpus, in_shards(type, 6), 2);
    for (size_t shard = 0; shard < plans.size(); ++shard) {
      EXPECT_NE(sorted_pairs(plans[shard]), sorted_pairs(later[shard]));
      EXPECT_NE(sorted_pairs(plans[shard]), sorted_pairs(other[shard]));
    }
    EXPECT_GE(std::ranges::count_if(plans, [](const Plan& plan) { return !std::ranges::is_sorted(plan); }), 4)
        << "batches are shuffled";
  }
}

// Runs of before there were shards resume in the same bits.
TEST(Shards, CorporaUpToTheThresholdHaveNone) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  BatchOptions options{BatchType::kTokens, 64, 5};
  EXPECT_EQ(options.shard_pairs, 4'000'000);
  for (const auto& weights : {std::vector<double>{}, {2.5, 0, 0.25}}) {
    options.corpus_weights = weights;
    options.shard_pairs = 4'000'000;
    const auto plan = plan_epoch(*corpus, options, 1);
    options.shard_pairs = 200;
    EXPECT_EQ(shards_of_epoch(*corpus, options), 1);
    EXPECT_EQ(plan_epoch(*corpus, options, 1), plan);
    options.shard_pairs = 199;
    EXPECT_NE(plan_epoch(*corpus, options, 1), plan);
  }
  EXPECT_EQ(shards_of_epoch(*corpus, {.shard_pairs = 199}), 2);
}

TEST(Shards, HavePairsAsOftenAsTheirCorpusWeighs) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  auto options = in_shards(BatchType::kTokens);
  options.corpus_weights = {2.5, 0, 0.25};          // of 67, 67 and 66 pairs
  EXPECT_EQ(shards_of_epoch(*corpus, options), 7);  // (167.5 + 16.5) / 30
  std::vector<int64_t> extra;                       // copies beyond the whole ones, of each epoch
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    const auto pairs = sorted_pairs(plans_of_epoch(*corpus, options, epoch));
    const auto copies = [&](int64_t pair) { return std::ranges::count(pairs, pair); };
    for (int64_t pair = 0; pair < 200; ++pair) {
      const int64_t whole = pair % 3 == 0 ? 2 : 0, most = pair % 3 == 1 ? 0 : whole + 1;
      EXPECT_GE(copies(pair), whole) << pair;
      EXPECT_LE(copies(pair), most) << pair;
    }
    extra.push_back(std::ssize(pairs) - 2 * 67);
  }
  EXPECT_NEAR(std::accumulate(extra.begin(), extra.end(), 0.0) / 20, 33.5 + 16.5, 6);
  EXPECT_GT(std::set(extra.begin(), extra.end()).size(), 1u) << "others each epoch";
  options.corpus_weights = {1, 1};
  EXPECT_THAT(message_of<Error>([&] { plan_epoch(*corpus, options, 0); }), testing::HasSubstr("has 2 weights"));
  options.corpus_weights = {1e-9, 0, 0};
  EXPECT_EQ(message_of<Error>([&] { plan_epoch(*corpus, options, 0); }),
            "training.corpus_weights: no pair is left to train on; raise a weight");
}

// Golden, as above.
TEST(Shards, HaveTheseFirstBatches) {
  const TemporaryDirectory folder;
  const auto corpus =
      corpus_of(folder / "x.bin", {{3, 4}, {1, 1}, {5, 2}, {3, 4}, {2, 2}, {9, 9}, {0, 0}, {3, 4}, {1, 2}, {5, 5}});
  const BatchOptions options{.type = BatchType::kTokens, .size = 16, .shard_pairs = 5};
  EXPECT_EQ(plans_of_epoch(*corpus, options, 0), (std::vector<Plan>{{{6, 8, 3}, {9}}, {{5}, {7, 2}, {1, 4, 0}}}));
  EXPECT_EQ(plans_of_epoch(*corpus, options, 1), (std::vector<Plan>{{{4, 8, 0}}, {{2}, {6, 1, 7}, {3, 9}, {5}}}));
}

TEST(PlanEpoch, TokenBatchesStayWithinTheLimit) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  for (const int64_t limit : {20, 64, 500}) {
    int64_t alone = 0;
    for (const auto& pairs : plan_epoch(*corpus, {BatchType::kTokens, limit, 1}, 0)) {
      const Batch batch = make_batch(*corpus, pairs);
      const int64_t tokens = batch.size * std::max(batch.source_width, batch.target_width);
      if (tokens > limit) {
        EXPECT_EQ(batch.size, 1) << "only a pair that is longer than the limit";
        ++alone;
      }
    }
    EXPECT_EQ(alone > 0, limit == 20);
  }
}

TEST(PlanEpoch, SentenceBatchesAreFullButForTheLast) {
  const TemporaryDirectory folder;
  const auto plan = plan_epoch(*varied_corpus(folder), {BatchType::kSentences, 64, 1}, 0);
  ASSERT_EQ(plan.size(), 4u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(plan[static_cast<size_t>(i)].size(), 64u);
  EXPECT_EQ(plan[3].size(), 8u);
}

TEST(PlanEpoch, PoolsGiveBatchesOfLikeSourceLengths) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  const BatchOptions options{.type = BatchType::kSentences, .size = 10, .seed = 5, .pool_batches = 5};
  const auto plan = plan_epoch(*corpus, options, 0);
  EXPECT_EQ(sorted_pairs(plan), range(200));
  EXPECT_EQ(plan, plan_epoch(*corpus, options, 0));
  EXPECT_NE(plan, plan_epoch(*corpus, options, 1));
  // The batches, shuffled, are those of a sorted pool each: 50 pairs of the shuffled pass.
  const auto pass = plan_epoch(*corpus, {.type = BatchType::kSentences, .size = 50, .seed = 5}, 0);
  const auto length = [&](int64_t pair) { return corpus->source(pair).size(); };
  std::set<std::vector<int64_t>> expected;
  for (auto pool : pass) {
    std::stable_sort(pool.begin(), pool.end(), [&](int64_t a, int64_t b) { return length(a) < length(b); });
    for (auto at = pool.begin(); at != pool.end(); at += 10) expected.emplace(at, at + 10);
  }
  EXPECT_EQ(std::set(plan.begin(), plan.end()), expected);
  std::vector<size_t> first_lengths;
  for (const auto& batch : plan) first_lengths.push_back(length(batch.front()));
  EXPECT_FALSE(std::is_sorted(first_lengths.begin(), first_lengths.begin() + 5)) << "batches are shuffled";
}

TEST(PlanEpoch, OnePoolMayBeTheWholePass) {
  const TemporaryDirectory folder;
  const auto corpus =
      corpus_of(folder / "x.bin", {{3, 4}, {1, 1}, {5, 2}, {3, 4}, {2, 2}, {9, 9}, {0, 0}, {3, 4}, {1, 2}, {5, 5}});
  const BatchOptions options{
      .type = BatchType::kSentences, .size = 4, .pool_batches = std::numeric_limits<int64_t>::max()};
  auto plan = plan_epoch(*corpus, options, 0);
  std::sort(plan.begin(), plan.end(), [&](const auto& a, const auto& b) {
    return corpus->source(a.front()).size() < corpus->source(b.front()).size();
  });
  // The pass of HasTheseFirstBatches, 6 1 5 7 4 0 8 2 3 9, in order of 0 1 9 3 2 3 1 5 3 5 pieces.
  EXPECT_EQ(plan, (Plan{{6, 1, 8, 4}, {7, 0, 3, 2}, {9, 5}}));
}

TEST(PlanEpoch, AShortLastBatchMayBeDropped) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  for (const int64_t pool : {0, 3}) {
    const BatchOptions options{
        .type = BatchType::kSentences, .size = 64, .pool_batches = pool, .last_batch = LastBatch::kDrop};
    const auto plan = plan_epoch(*corpus, options, 0);
    ASSERT_EQ(plan.size(), 3u);
    for (const auto& batch : plan) EXPECT_EQ(batch.size(), 64u);
    EXPECT_NE(sorted_pairs(plan), sorted_pairs(plan_epoch(*corpus, options, 1))) << "other pairs are left out";
  }
  const BatchOptions whole{.type = BatchType::kSentences, .size = 50, .last_batch = LastBatch::kDrop};
  EXPECT_EQ(plan_epoch(*corpus, whole, 0).size(), 4u);
  const BatchOptions large{.type = BatchType::kSentences, .size = 201, .last_batch = LastBatch::kDrop};
  EXPECT_EQ(message_of<Error>([&] { plan_epoch(*corpus, large, 0); }),
            "training.last_batch drop: 200 training pairs do not fill one batch of 201; lower training.batch_size");
}

TEST(PlanEpoch, RefusesASizeBelowOne) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  EXPECT_EQ(message_of<Error>([&] {
              plan_epoch(*corpus, {BatchType::kTokens, 0, 1}, 0);
            }),
            "a batch size of 0; it must be at least 1");
  EXPECT_EQ(message_of<Error>([&] { plan_by_length(*corpus, -3); }), "a batch size of -3; it must be at least 1");
}

TEST(PlanByLength, CoversTheCorpusInOrderOfLength) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  const auto plan = plan_by_length(*corpus, 128);
  EXPECT_EQ(sorted_pairs(plan), range(200));
  EXPECT_EQ(plan, plan_by_length(*corpus, 128));
  size_t last = 0;
  for (const auto& batch : plan) {
    for (const int64_t pair : batch) {
      const size_t wider = std::max(corpus->source(pair).size(), corpus->target(pair).size());
      EXPECT_GE(wider, last);
      last = wider;
    }
  }
}

TEST(MakeBatch, PadsToRectanglesWithEndSymbols) {
  const TemporaryDirectory folder;
  const auto corpus = corpus_of(folder / "x.bin", {{2, 1}, {0, 3}, {1, 0}});
  const std::vector<int64_t> pairs = {2, 0, 1};
  const Batch batch = make_batch(*corpus, pairs);
  EXPECT_EQ(batch.size, 3);
  EXPECT_EQ(batch.source_width, 3);
  EXPECT_EQ(batch.target_width, 4);
  EXPECT_EQ(batch.indices, pairs);
  EXPECT_THAT(batch.source, ElementsAre(210, 3, 0, /**/ 10, 11, 3, /**/ 3, 0, 0));
  EXPECT_THAT(batch.target_in, ElementsAre(2, 0, 0, 0, /**/ 2, 60, 0, 0, /**/ 2, 160, 161, 162));
  EXPECT_THAT(batch.target_out, ElementsAre(3, 0, 0, 0, /**/ 60, 3, 0, 0, /**/ 160, 161, 162, 3));
  EXPECT_THAT(batch.source_lengths, ElementsAre(2, 3, 1));
  EXPECT_THAT(batch.target_lengths, ElementsAre(1, 2, 4));
  EXPECT_EQ(batch.source_tokens, 6);
  EXPECT_EQ(batch.target_tokens, 7);
}

TEST(MakeBatch, PutsTheMarkersOfTheCorpusAroundSources) {
  const TemporaryDirectory folder;
  corpus_of(folder / "x.bin", {{2, 1}, {0, 3}});
  const std::vector<int64_t> pairs = {0, 1};
  const PreparedCorpus both(folder / "x.bin", SourceMarkers::kBoth), none(folder / "x.bin", SourceMarkers::kNone);
  Batch batch = make_batch(both, pairs);
  EXPECT_EQ(batch.source_width, 4);
  EXPECT_THAT(batch.source, ElementsAre(2, 10, 11, 3, /**/ 2, 3, 0, 0));
  EXPECT_THAT(batch.source_lengths, ElementsAre(4, 2));
  EXPECT_EQ(batch.source_tokens, 6);
  batch = make_batch(none, pairs);
  EXPECT_EQ(batch.source_width, 2);
  EXPECT_THAT(batch.source, ElementsAre(10, 11, /**/ 3, 0));
  EXPECT_THAT(batch.source_lengths, ElementsAre(2, 1));
  EXPECT_THAT(batch.target_out, ElementsAre(60, 3, 0, 0, /**/ 160, 161, 162, 3));
  const PreparedCorpus backwards(folder / "x.bin", {SourceMarkers::kEnd, /*reversed=*/true});
  EXPECT_THAT(make_batch(backwards, pairs).source, ElementsAre(11, 10, 3, /**/ 3, 0, 0));
}

TEST(PlanEpoch, FillsTheLastBatchWithPairsOfThePass) {
  const TemporaryDirectory folder;
  const auto corpus = varied_corpus(folder);
  for (const int64_t pool : {0, 2}) {
    BatchOptions options{
        .type = BatchType::kSentences, .size = 64, .pool_batches = pool, .last_batch = LastBatch::kFill};
    const auto plan = plan_epoch(*corpus, options, 3);
    ASSERT_EQ(plan.size(), 4u);
    for (const auto& batch : plan) EXPECT_EQ(batch.size(), 64u);
    auto pairs = sorted_pairs(plan);
    std::vector<int64_t> twice;
    for (size_t i = 1; i < pairs.size(); ++i)
      if (pairs[i] == pairs[i - 1]) twice.push_back(pairs[i]);
    EXPECT_EQ(twice.size(), 4 * 64u - 200);
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    EXPECT_EQ(pairs, range(200)) << "every pair stands in it";
    EXPECT_EQ(plan_epoch(*corpus, options, 3), plan);
    EXPECT_NE(plan_epoch(*corpus, options, 4), plan);
    options.size = 450;
    EXPECT_EQ(plan_epoch(*corpus, options, 0).front().size(), 450u) << "some pairs thrice";
    options.size = 50;
    EXPECT_EQ(sorted_pairs(plan_epoch(*corpus, options, 0)), range(200)) << "nothing to fill";
  }
}

}  // namespace
}  // namespace nmt::batches_test
