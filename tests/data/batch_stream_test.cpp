#include "data/batch_stream.h"

#include <gmock/gmock.h>

#include <map>
#include <tuple>

#include "base/error.h"
#include "data/corpora.h"

namespace nmt::batch_stream_test {
namespace {

using test::corpus_of;
using test::message_of;
using test::PairLengths;
using test::TemporaryDirectory;

class BatchStreamTest : public testing::Test {
 protected:
  static std::vector<PairLengths> lengths() {
    std::vector<PairLengths> all;
    for (int i = 0; i < 100; ++i) all.push_back({1 + i % 13, 1 + i % 11});
    return all;
  }
  TemporaryDirectory folder_;
  std::shared_ptr<const PreparedCorpus> corpus_ = corpus_of(folder_ / "train.bin", lengths());
  const BatchOptions options_{BatchType::kTokens, 80, 3};
};

TEST_F(BatchStreamTest, HandsOutThePlansOfTheEpochsInOrder) {
  BatchStream stream(corpus_, options_);
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    const auto plan = plan_epoch(*corpus_, options_, epoch);
    for (size_t i = 0; i < plan.size(); ++i) {
      EXPECT_EQ(stream.position().epoch, epoch);
      EXPECT_EQ(stream.position().batch, static_cast<int64_t>(i));
      EXPECT_EQ(stream.batches_of_current_epoch(), static_cast<int64_t>(plan.size()));
      const Batch batch = stream.next(), expected = make_batch(*corpus_, plan[i]);
      EXPECT_EQ(batch.indices, expected.indices);
      EXPECT_EQ(batch.source, expected.source);
      EXPECT_EQ(batch.target_out, expected.target_out);
    }
  }
}

TEST_F(BatchStreamTest, GoesOnFromAnyPositionAsIfUninterrupted) {
  for (const int taken : {0, 1, 5, 18, 19, 20, 40, 61}) {
    BatchStream whole(corpus_, options_);
    for (int i = 0; i < taken; ++i) whole.next();
    BatchStream resumed(corpus_, options_, whole.position());
    EXPECT_EQ(resumed.batches_of_current_epoch(), whole.batches_of_current_epoch());
    for (int i = 0; i < 45; ++i) EXPECT_EQ(resumed.next().indices, whole.next().indices) << taken << " + " << i;
    EXPECT_EQ(resumed.position().epoch, whole.position().epoch);
    EXPECT_EQ(resumed.position().batch, whole.position().batch);
  }
}

/// Writes each piece once or several times.
class Stutter final : public SubwordSampler {
 public:
  Stutter() : SubwordSampler({}) {}
  std::vector<int32_t> sample(std::span<const int32_t> plain, CounterRandom& random) const override {
    std::vector<int32_t> ids;
    for (const int32_t id : plain) ids.insert(ids.end(), 1 + random.below(3), id);
    return ids;
  }
};

TEST_F(BatchStreamTest, SamplesPiecesByEpochAndPair) {
  BatchOptions options = options_;
  options.sampling = {.source = std::make_shared<Stutter>(), .seed = 3};
  const auto epoch_of = [&](BatchStream& stream) {
    std::map<int64_t, std::vector<int64_t>> sources;  // of each pair, without padding
    for (const auto epoch = stream.position().epoch; stream.position().epoch == epoch;) {
      const Batch batch = stream.next();
      if (batch.size > 1 && options.type == BatchType::kTokens) {
        EXPECT_LE(batch.size * std::max(batch.source_width, batch.target_width), 80) << "of the samples' lengths";
      }
      for (int64_t row = 0; row < batch.size; ++row) {
        const auto begin = batch.source.begin() + row * batch.source_width;
        sources[batch.indices[row]] = {begin, begin + batch.source_lengths[row]};
        EXPECT_EQ(batch.target_lengths[row], std::ssize(corpus_->target(batch.indices[row])) + 1) << "not sampled";
      }
    }
    return sources;
  };
  BatchStream stream(corpus_, options);
  const auto first = epoch_of(stream);
  const auto middle = stream.position();
  const auto second = epoch_of(stream);
  EXPECT_EQ(first.size(), 100u);
  EXPECT_NE(first, second);
  BatchStream resumed(corpus_, options, middle);
  EXPECT_EQ(epoch_of(resumed), second);
  options.type = BatchType::kSentences;  // other batches in another order: the same samples
  options.size = 4;
  BatchStream other(corpus_, options);
  EXPECT_EQ(epoch_of(other), first);
}

TEST_F(BatchStreamTest, KeepsTheOwnPiecesWhereASampleIsTooLong) {
  const PairSampling sampling{.source = std::make_shared<Stutter>(),
                              .target = std::make_shared<Stutter>(),
                              .max_source = 12,
                              .max_target = 1 << 20};
  const EpochView view(*corpus_, sampling, 0);
  int longer = 0;
  for (int64_t pair = 0; pair < 100; ++pair) {
    const auto sampled = std::ssize(view.pieces(pair).source.ids()), plain = std::ssize(corpus_->source(pair));
    EXPECT_TRUE(sampled <= 12 || sampled == plain) << pair;
    longer += sampled > plain;
  }
  EXPECT_GT(longer, 10);
}

TEST_F(BatchStreamTest, LeavesThePrefixOfTheTaskAsItIs) {
  const auto first = corpus_->source(3);
  ASSERT_GE(first.size(), 3u);
  const PairSampling sampling{.source = std::make_shared<Stutter>(),
                              .source_prefix = {first.begin(), first.begin() + 2}};
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    const auto sampled = EpochView(*corpus_, sampling, epoch).pieces(3);
    ASSERT_GE(sampled.source.ids().size(), first.size());
    EXPECT_TRUE(std::equal(first.begin(), first.begin() + 3, sampled.source.ids().begin()))
        << epoch;  // no piece of it twice
  }
}

TEST_F(BatchStreamTest, HandsOutTheShardsOfTheEpochsInOrder) {
  BatchOptions options = options_;
  options.shard_pairs = 30;
  const int64_t shards = shards_of_epoch(*corpus_, options);
  ASSERT_EQ(shards, 4);
  BatchStream stream(corpus_, options);
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    int64_t batch = 0;
    for (int64_t shard = 0; shard < shards; ++shard) {
      const int64_t begin = batch;
      const auto plan = plan_epoch(*corpus_, options, epoch, shard);
      for (const auto& pairs : plan) {
        const auto position = stream.position();
        EXPECT_EQ(std::tuple(position.epoch, position.shard, position.shard_begin, position.batch),
                  std::tuple(epoch, shard, begin, batch));
        EXPECT_EQ(stream.batches_of_current_epoch(), begin + std::ssize(plan) * (shards - shard));
        EXPECT_EQ(stream.next().indices, pairs);
        ++batch;
      }
    }
  }
}

TEST_F(BatchStreamTest, GoesOnFromAnyPositionInAShardAsIfUninterrupted) {
  for (const auto type : {BatchType::kTokens, BatchType::kSentences}) {
    const BatchOptions options{.type = type, .size = type == BatchType::kTokens ? 80 : 7, .seed = 3, .shard_pairs = 30};
    BatchStream whole(corpus_, options);
    for (int taken = 0; taken < 50; ++taken) {
      BatchStream resumed(corpus_, options, whole.position());
      EXPECT_EQ(resumed.batches_of_current_epoch(), whole.batches_of_current_epoch());
      BatchStream from_the_start(corpus_, options);
      for (int i = 0; i < taken; ++i) from_the_start.next();
      for (int i = 0; i < 15; ++i)
        EXPECT_EQ(resumed.next().indices, from_the_start.next().indices) << taken << "+" << i;
      whole.next();
    }
  }
}

/// Two epochs of corpus 0, one of 1 and 2, then all.
BatchOptions in_stages() {
  return {.type = BatchType::kTokens,
          .size = 80,
          .seed = 3,
          .stages = {{.corpus_weights = {1, 0, 0}, .epochs = 2},
                     {.corpus_weights = {0, 1, 2}, .epochs = 1},
                     {.corpus_weights = {1, 1, 1}}}};
}

TEST_F(BatchStreamTest, StagesFollowOneAnotherWithTheirCorpora) {
  BatchStream stream(corpus_, in_stages());
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    std::map<int32_t, int> pairs;  // of each corpus: 34, 33 and 33 are there
    const auto begin = stream.position();
    EXPECT_EQ(std::tuple(begin.epoch, begin.stage, begin.stage_begin),
              epoch < 2    ? std::tuple(epoch, int64_t{0}, int64_t{0})
              : epoch == 2 ? std::tuple(epoch, int64_t{1}, int64_t{2})
                           : std::tuple(epoch, int64_t{2}, int64_t{3}));
    while (stream.position().epoch == epoch)
      for (const int64_t pair : stream.next().indices) ++pairs[corpus_->corpus(pair)];
    EXPECT_EQ(pairs, (epoch < 2    ? std::map<int32_t, int>{{0, 34}}
                      : epoch == 2 ? std::map<int32_t, int>{{1, 33}, {2, 66}}
                                   : std::map<int32_t, int>{{0, 34}, {1, 33}, {2, 33}}));
  }
}

TEST_F(BatchStreamTest, GoesOnFromAnyPositionInStagesAsIfUninterrupted) {
  BatchStream whole(corpus_, in_stages());
  while (whole.position().epoch < 4) {
    BatchStream resumed(corpus_, in_stages(), whole.position()), same(corpus_, in_stages(), whole.position());
    EXPECT_EQ(resumed.batches_of_current_epoch(), whole.batches_of_current_epoch());
    const auto taken = whole.next();
    EXPECT_EQ(resumed.next().indices, taken.indices);
    EXPECT_EQ(resumed.position().stage, whole.position().stage);
    EXPECT_EQ(resumed.position().stage_begin, whole.position().stage_begin);
    for (int i = 0; i < 5; ++i) same.next();
    for (int i = 0; i < 4; ++i) resumed.next();
    EXPECT_EQ(resumed.next().indices, same.next().indices);
  }
}

TEST_F(BatchStreamTest, BeginsTheNextStageWhenItIsTold) {
  auto options = in_stages();
  options.stages[0].epochs = 0;
  BatchStream stream(corpus_, options);
  stream.next();
  stream.begin_next_stage();
  const auto position = stream.position();
  EXPECT_EQ(std::tuple(position.epoch, position.batch, position.stage, position.stage_begin),
            std::tuple(int64_t{1}, int64_t{0}, int64_t{1}, int64_t{1}))
      << "the epoch is cut off";
  BatchStream resumed(corpus_, options, position);
  EXPECT_EQ(stream.batches_of_current_epoch(), resumed.batches_of_current_epoch());
  for (int i = 0; i < 20; ++i) {
    const auto batch = stream.next();
    EXPECT_EQ(batch.indices, resumed.next().indices);
    if (i == 0) {
      for (const int64_t pair : batch.indices) EXPECT_NE(corpus_->corpus(pair), 0);
    }
  }
  options.stages.erase(options.stages.begin());
  BatchStream at_the_end(corpus_, options);
  while (at_the_end.position().epoch == 0) at_the_end.next();
  EXPECT_EQ(at_the_end.position().stage, 1) << "of its own";
}

TEST_F(BatchStreamTest, OneBatchAnEpochWorks) {
  BatchStream stream(corpus_, {BatchType::kSentences, 1000, 1});
  for (int64_t epoch = 0; epoch < 40; ++epoch) {
    EXPECT_EQ(stream.position().epoch, epoch);
    EXPECT_EQ(stream.next().size, 100);
  }
}

TEST_F(BatchStreamTest, MayEndAtAnyMoment) {
  for (int taken = 0; taken < 40; taken += 3) {
    BatchStream stream(corpus_, options_);
    for (int i = 0; i < taken; ++i) stream.next();
  }
}

TEST_F(BatchStreamTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(message_of<Error>([&] { BatchStream(corpus_of(folder_ / "none.bin", {}), options_); }),
            "the training data has no pairs; see what nmt-prepro dropped and why");
  EXPECT_EQ(message_of<Error>([&] {
              BatchStream(corpus_, {BatchType::kSentences, 10, 1}, {.epoch = 2, .batch = 10});
            }),
            "batch 10 of epoch 2, which has 10 batches; the checkpoint belongs to other data");
  EXPECT_EQ(message_of<Error>([&] {
              BatchStream(corpus_, {BatchType::kSentences, 10, 1}, {.batch = 3, .shard = 1, .shard_begin = 2});
            }),
            "shard 1 of epoch 0, which has 1 shards; the checkpoint belongs to other data");
  EXPECT_EQ(message_of<Error>([&] { BatchStream(corpus_, in_stages(), {.epoch = 4, .stage = 3, .stage_begin = 2}); }),
            "stage 3 of 3, from epoch 2 on in epoch 4; the checkpoint belongs to other data");
  EXPECT_THROW(BatchStream(corpus_, in_stages(), {.epoch = 1, .stage = 1, .stage_begin = 2}), Error);
  const BatchOptions in_shards{.type = BatchType::kSentences, .size = 10, .shard_pairs = 50};
  for (const BatchPosition& position : {BatchPosition{.batch = 3, .shard = 1, .shard_begin = 0},
                                        {.batch = 3, .shard = 0, .shard_begin = 2},
                                        {.batch = 3, .shard = 1, .shard_begin = 4},
                                        {.batch = 1000, .shard = 1, .shard_begin = 5}})
    EXPECT_THROW(BatchStream(corpus_, in_shards, position), Error);
}

}  // namespace
}  // namespace nmt::batch_stream_test
