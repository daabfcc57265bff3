#include "training/batch_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/error.h"
#include "config/loading/schema.h"
#include "data/preparation/prepared_corpus_writer.h"
#include "support.h"
#include "translation/word_tokenizer.h"

namespace nmt::batch_options_test {
namespace {

using test::message_of;

/// Corpora a, b and c of 40, 10 and 100 pairs; d has none.
class BatchOptionsTest : public testing::Test {
 protected:
  BatchOptionsTest() {
    PreparedCorpusWriter writer(folder_ / "train.bin");
    const std::vector<int32_t> ids = {4, 5};
    for (const auto& [corpus, pairs] : std::map<int32_t, int>{{0, 40}, {1, 10}, {2, 100}})
      for (int i = 0; i < pairs; ++i)
        writer.add({.source = ids, .target = ids, .source_text = "x y", .target_text = "x y", .corpus = corpus});
    writer.finish();
    data_.train = std::make_shared<const PreparedCorpus>(folder_ / "train.bin");
  }
  BatchOptions options(const std::string& training) const {
    return batch_options(
        parse_config("{data: {train_tsv: [a.tsv, b.tsv, c.tsv, d.tsv]}, training: {" + training + "}}", "f").config,
        data_);
  }
  /// Pairs of each corpus in an epoch of a stage.
  std::map<int32_t, int64_t> pairs_in(BatchOptions options, size_t stage, int64_t epoch) const {
    options.corpus_weights = options.stages[stage].corpus_weights;
    std::map<int32_t, int64_t> pairs;
    for (const int64_t pair : pairs_of_epoch(*data_.train, options, epoch)) ++pairs[data_.train->corpus(pair)];
    return pairs;
  }

  test::TemporaryDirectory folder_;
  PreparedData data_{{}, {}, {}, {}, {}, test::word_codec({"x", "y"}), {}, {}, {}, {}};
};

TEST_F(BatchOptionsTest, StagesHoldTheirShares) {
  const auto stages = options(
      "stages: [{shares: {a: 0.5, c: 0.3, b: 0.2}, until_epochs: 2}, {shares: {b: 1, a: 3}, until_update: 9}, "
      "{shares: {c: 2}}]");
  ASSERT_EQ(stages.stages.size(), 3u);
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    EXPECT_EQ(pairs_in(stages, 0, epoch), (std::map<int32_t, int64_t>{{0, 40}, {1, 16}, {2, 24}}));
    EXPECT_EQ(pairs_in(stages, 1, epoch), (std::map<int32_t, int64_t>{{0, 30}, {1, 10}}));
    EXPECT_EQ(pairs_in(stages, 2, epoch), (std::map<int32_t, int64_t>{{2, 100}}));
  }
  EXPECT_EQ(stages.stages[0].epochs, 2);
  EXPECT_EQ(stages.stages[1].epochs, 0) << "ends at an update";
  EXPECT_EQ(stages.corpus_weights, stages.stages[0].corpus_weights);
  EXPECT_TRUE(options("corpus_weights: [1, 2, 3, 4]").stages.empty());
}

// Half of corpus c is left out, and the other half comes three times in an epoch.
TEST_F(BatchOptionsTest, SharesAreOfThePairsThatAreTrainedOn) {
  std::vector<float> weights(150, 1);
  std::fill(weights.begin() + 50, weights.begin() + 100, 0.0F);
  std::fill(weights.begin() + 100, weights.end(), 3.0F);
  data_.selection.weights = std::make_shared<const std::vector<float>>(weights);
  EXPECT_EQ(options("stages: [{shares: {c: 1, a: 0.8}}]").stages[0].corpus_weights, (std::vector<double>{3, 0, 1, 0}));
  EXPECT_EQ(pairs_in(options("stages: [{shares: {c: 1, a: 0.8}}]"), 0, 0),
            (std::map<int32_t, int64_t>{{0, 120}, {2, 150}}));
}

TEST_F(BatchOptionsTest, RefusesSharesThatCannotHold) {
  EXPECT_EQ(message_of<Error>([&] { options("stages: [{shares: {a: 1, d: 1}}]"); }),
            "training.stages: d has no pairs; see what nmt-prepro or data.keep_best dropped");
  EXPECT_EQ(message_of<Error>([&] { options("stages: [{shares: {d: 1}}]"); }),
            "training.stages: d has no pairs; see what nmt-prepro or data.keep_best dropped");
  EXPECT_EQ(message_of<Error>([&] { options("stages: [{shares: {a: 0.0001, c: 1}}]"); }),
            "training.stages: an epoch of a would have each pair of c 4000 times; name a smaller corpus first, or give "
            "other shares");
}

// Shares of the square roots of 40, 10 and 100, by hand, of an epoch that stays 150 pairs long.
TEST_F(BatchOptionsTest, ATemperatureBringsSmallCorporaMoreOften) {
  const auto tempered = options("corpus_temperature: 2");
  ASSERT_EQ(tempered.corpus_weights.size(), 4u);
  EXPECT_NEAR(tempered.corpus_weights[0], 48.683 / 40, 1e-4);
  EXPECT_NEAR(tempered.corpus_weights[1], 24.342 / 10, 1e-4);
  EXPECT_NEAR(tempered.corpus_weights[2], 76.975 / 100, 1e-4);
  EXPECT_EQ(tempered.corpus_weights[3], 0) << "it has no pairs";
  std::map<int32_t, int64_t> pairs;
  for (const int64_t pair : pairs_of_epoch(*data_.train, tempered, 0)) ++pairs[data_.train->corpus(pair)];
  EXPECT_EQ(pairs, (std::map<int32_t, int64_t>{{0, 49}, {1, 24}, {2, 77}}));
  EXPECT_TRUE(options("corpus_temperature: 1").corpus_weights.empty());
  EXPECT_THAT(message_of<Error>([&] { options("corpus_temperature: 2, corpus_weights: [1, 1, 1, 1]"); }),
              testing::HasSubstr("training.corpus_temperature: stands beside training.corpus_weights"));
}

// A corpus of each target language: changed text keeps its tag.
TEST_F(BatchOptionsTest, ChangedTextHasTheTagOfItsCorpus) {
  data_.codec = test::word_codec({"x", "y", "X", "Y", ">>s<<", ">>t<<", ">>u<<", ">>v<<"});
  const auto config = parse_config(
      "{data: {train_tsv: [a.tsv, b.tsv, c.tsv, d.tsv], languages: [q-s, q-t, q-u, q-v], tags: target}, training: "
      "{augment_upper: 1}}",
      "f");
  const auto sampling = batch_options(config.config, data_).sampling;
  const EpochView epoch(*data_.train, sampling, 0);
  for (const auto& [pair, text] :
       std::map<int64_t, std::string>{{0, ">>s<< X Y"}, {40, ">>t<< X Y"}, {50, ">>u<< X Y"}})
    EXPECT_EQ(data_.codec.decode_target(epoch.pieces(pair).source.ids()), text);
}

TEST_F(BatchOptionsTest, ChangesPairsAtTheirRates) {
  const auto rates = options(
                         "augment_upper: 0.01, augment_title: 0.02, augment_typos: 0.03, augment_no_end_mark: 0.04, "
                         "augment_joined: 1")
                         .sampling.augmentation;
  EXPECT_EQ(rates.upper, 0.01);
  EXPECT_EQ(rates.title, 0.02);
  EXPECT_EQ(rates.typos, 0.03);
  EXPECT_EQ(rates.no_end_mark, 0.04);
  const std::vector<int64_t> rows = {0};
  const auto joined = options("augment_joined: 1");
  EXPECT_EQ(make_batch(EpochView(*data_.train, joined.sampling, 0), rows).source_width, 5) << "x y x y </s>";
}

}  // namespace
}  // namespace nmt::batch_options_test
