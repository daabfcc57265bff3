#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "data/batches.h"
#include "data/preparation/prepared_corpus_writer.h"
#include "support.h"
#include "translation/word_tokenizer.h"

namespace nmt::augmented_pairs_test {
namespace {

using Ids = std::vector<int32_t>;

/// Six pairs "aI bI." and "cI dI." of two corpora, whose words are in the vocabulary in lower case and in capitals.
class AugmentedPairs : public testing::Test {
 protected:
  AugmentedPairs() {
    std::vector<std::string> words;
    PreparedCorpusWriter writer(folder_ / "train.bin");
    for (int i = 0; i < 6; ++i)
      for (const auto& word :
           {fmt::format("a{}", i), fmt::format("b{}.", i), fmt::format("c{}", i), fmt::format("d{}.", i),
            fmt::format("A{}", i), fmt::format("B{}.", i), fmt::format("C{}", i), fmt::format("D{}.", i)})
        words.push_back(word);
    sampling_.codecs.assign(2, test::word_codec(words));
    for (int i = 0; i < 6; ++i) {
      const auto source = fmt::format("a{0} b{0}.", i), target = fmt::format("c{0} d{0}.", i);
      const auto source_ids = ids(source), target_ids = ids(target);
      writer.add({.source = source_ids,
                  .target = target_ids,
                  .source_text = source,
                  .target_text = target,
                  .corpus = i < 3 ? 0 : 1});
    }
    writer.finish();
    corpus_ = std::make_unique<const PreparedCorpus>(folder_ / "train.bin");
  }
  Ids ids(const std::string& text) const { return sampling_.codecs.front().encode_target(text); }
  /// Both sides as text.
  std::pair<std::string, std::string> texts(int64_t pair, int64_t epoch) const {
    const auto pieces = EpochView(*corpus_, sampling_, epoch).pieces(pair);
    return {sampling_.codecs.front().decode_target(pieces.source.ids()),
            sampling_.codecs.front().decode_target(pieces.target.ids())};
  }

  test::TemporaryDirectory folder_;
  PairSampling sampling_;
  std::unique_ptr<const PreparedCorpus> corpus_;
};

TEST_F(AugmentedPairs, ChangeOnBothSides) {
  EXPECT_EQ(texts(1, 0), (std::pair<std::string, std::string>("a1 b1.", "c1 d1.")));
  sampling_.augmentation.upper = 1;
  EXPECT_EQ(texts(1, 0), (std::pair<std::string, std::string>("A1 B1.", "C1 D1.")));
}

TEST_F(AugmentedPairs, JoinTheNextOneOfTheirCorpus) {
  sampling_.augmentation.joined = 1;
  EXPECT_EQ(texts(1, 0), (std::pair<std::string, std::string>("a1 b1. a2 b2.", "c1 d1. c2 d2.")));
  EXPECT_EQ(texts(2, 0).first, "a2 b2.") << "the next one is of another corpus";
  EXPECT_EQ(texts(5, 0).first, "a5 b5.") << "the last one";
  sampling_.weights = std::make_shared<const std::vector<float>>(std::vector<float>{1, 1, 0, 1, 1, 1});
  EXPECT_EQ(texts(1, 0).first, "a1 b1.") << "the next one is left out";
  EXPECT_EQ(texts(0, 0).first, "a0 b0. a1 b1.");
  sampling_.max_target = 3;
  EXPECT_EQ(texts(0, 0).first, "a0 b0.") << "a side would be too long";
}

TEST_F(AugmentedPairs, AreAFunctionOfSeedEpochAndPair) {
  sampling_.augmentation = {.upper = 0.3, .joined = 0.3};
  const auto all = [&](int64_t epoch) {
    std::vector<std::pair<std::string, std::string>> result;
    for (int64_t pair = 0; pair < 6; ++pair) result.push_back(texts(pair, epoch));
    return result;
  };
  std::vector<std::vector<std::pair<std::string, std::string>>> epochs;
  for (int64_t epoch = 0; epoch < 20; ++epoch) epochs.push_back(all(epoch));
  for (int64_t epoch = 19; epoch >= 0; --epoch) EXPECT_EQ(all(epoch), epochs[epoch]) << "in another order";
  EXPECT_NE(epochs[0], epochs[1]);
  sampling_.seed = 2;
  EXPECT_NE(all(0), epochs[0]);
  int upper = 0;
  for (const auto& epoch : epochs)
    for (const auto& pair : epoch) {
      EXPECT_EQ(pair.first[0] == 'A', pair.second[0] == 'C');
      EXPECT_EQ(std::ranges::count(pair.first, ' '), std::ranges::count(pair.second, ' '));
      upper += pair.first[0] == 'A';
    }
  EXPECT_NEAR(upper, 36, 20) << "of 120";
}

TEST_F(AugmentedPairs, HaveNoLinks) {
  write_piece_links(folder_ / "alignment.bin", {1, 2, 3, 4, 5, 6}, std::vector<PieceLink>(6, {0, 0}));
  const PieceLinks links(folder_ / "alignment.bin", sha256_of_file(folder_ / "alignment.bin"), *corpus_);
  sampling_.augmentation.joined = 1;
  const std::vector<int64_t> rows = {1, 2};
  const auto batch = make_batch(EpochView(*corpus_, sampling_, 0).with_links(&links), rows);
  ASSERT_EQ(batch.links.size(), 1u);
  EXPECT_EQ(batch.links[0].row, 1) << "the pair that stays as it is";
}

}  // namespace
}  // namespace nmt::augmented_pairs_test
