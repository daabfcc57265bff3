#include <gmock/gmock.h>

#include "base/error.h"
#include "corpora.h"
#include "data/batches.h"

namespace nmt {
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
}

}  // namespace
}  // namespace nmt
