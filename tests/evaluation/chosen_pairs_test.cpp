#include "evaluation/chosen_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support.h"
#include "translation/word_tokenizer.h"

namespace nmt::chosen_pairs_test {
namespace {

using test::message_of;
using testing::ElementsAre;

/// Five pairs; the third has four source words, the fifth four target words.
TestSet five_pairs() {
  return {.source_file = "s",
          .reference_files = {"r", "q"},
          .sources = {"a", "b b b", "a b c d", "", "d"},
          .references = {{"a", "b", "c", "d d d", "a b c d"}, {"1", "2", "3", "4", "5"}}};
}

const TextCodec& codec() {
  static const TextCodec kCodec = test::word_codec({"a", "b", "c", "d"});
  return kCodec;
}

TEST(ChosenPairs, AreAllByDefault) {
  const auto set = chosen_pairs(five_pairs(), codec(), {});
  EXPECT_EQ(set.sources, five_pairs().sources);
  EXPECT_EQ(set.left_out, 0);
}

TEST(ChosenPairs, WithinMaxlenCountTheEndSymbol) {
  const auto set = chosen_pairs(five_pairs(), codec(), {.only_within_maxlen = true, .maxlen1 = 4, .maxlen2 = 4});
  EXPECT_THAT(set.sources, ElementsAre("a", "b b b", ""));
  EXPECT_THAT(set.references[0], ElementsAre("a", "b", "d d d"));
  EXPECT_THAT(set.references[1], ElementsAre("1", "2", "4"));
  EXPECT_EQ(set.left_out, 2);
  EXPECT_EQ(chosen_pairs(five_pairs(), codec(), {.only_within_maxlen = true, .maxlen1 = 5, .maxlen2 = 5}).left_out, 0);
  EXPECT_EQ(message_of<Error>(
                [] { chosen_pairs(five_pairs(), codec(), {.only_within_maxlen = true, .maxlen1 = 0, .maxlen2 = 9}); }),
            "evaluation.only_within_maxlen: no pair of s is within data.maxlen1 0 and maxlen2 9");
}

TEST(ChosenPairs, FillWholeBatches) {
  const PairChoice within{
      .only_within_maxlen = true, .maxlen1 = 4, .maxlen2 = 4, .whole_batches = true, .batch_size = 2};
  const auto set = chosen_pairs(five_pairs(), codec(), within);
  EXPECT_THAT(set.sources, ElementsAre("a", "b b b"));
  EXPECT_EQ(set.left_out, 3);
  EXPECT_EQ(chosen_pairs(five_pairs(), codec(), {.whole_batches = true, .batch_size = 5}).left_out, 0);
  EXPECT_EQ(message_of<Error>([] { chosen_pairs(five_pairs(), codec(), {.whole_batches = true, .batch_size = 6}); }),
            "evaluation.whole_batches: 5 pairs do not fill one batch of 6; lower decoding.batch_size");
}

TEST(ChosenPairs, AreThoseOfTheConfiguration) {
  Config config;
  EXPECT_FALSE(pair_choice(config).only_within_maxlen || pair_choice(config).whole_batches);
  config.evaluation.only_within_maxlen = config.evaluation.whole_batches = true;
  config.data.maxlen1 = 10, config.data.maxlen2 = 11, config.decoding.batch_size = 7;
  const auto choice = pair_choice(config);
  EXPECT_TRUE(choice.only_within_maxlen && choice.whole_batches);
  EXPECT_THAT((std::vector{choice.maxlen1, choice.maxlen2, choice.batch_size}), ElementsAre(10, 11, 7));
}

}  // namespace
}  // namespace nmt::chosen_pairs_test
