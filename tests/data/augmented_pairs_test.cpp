#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "data/batch_stream.h"
#include "data/batches.h"
#include "data/changed_pairs.h"
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

/// Counts the texts that it encodes.
class CountingTokenizer final : public Tokenizer {
 public:
  explicit CountingTokenizer(const Tokenizer& words) : words_(words) {}
  int64_t size() const override { return words_.size(); }
  std::vector<int32_t> encode(std::string_view text) const override {
    ++encoded;
    return words_.encode(text);
  }
  std::string decode(std::span<const int32_t> ids) const override { return words_.decode(ids); }
  std::string piece(int32_t id) const override { return words_.piece(id); }
  mutable int encoded = 0;

 private:
  const Tokenizer& words_;
};

TEST_F(AugmentedPairs, AreEncodedOnceForPlanAndBatches) {
  const auto plain = sampling_.codecs.front();
  const auto counting = std::make_shared<const CountingTokenizer>(plain.source());
  sampling_.codecs.assign(2, TextCodec(plain.options(), counting, counting));
  sampling_.augmentation.joined = 1;  // four pairs
  const auto encoded = [&](size_t most_ids) {
    counting->encoded = 0;
    ChangedPairs changed(most_ids);
    const BatchOptions options{.size = 8, .corpus_weights = {2, 2}, .sampling = sampling_};
    for (const auto& pairs : plan_epoch(*corpus_, options, 0, 0, &changed))
      make_batch(EpochView(*corpus_, sampling_, 0).with_changed(&changed), pairs);
    return counting->encoded;
  };
  EXPECT_EQ(encoded(1 << 20), 2 * 4) << "both sides";
  EXPECT_EQ(encoded(8), 2 * (1 + 3 * 4)) << "a pair has eight ids: one is kept";
  EXPECT_EQ(encoded(0), 2 * 4 * 4) << "twice in the plan, twice in batches";
}

TEST_F(AugmentedPairs, ComeFromAStreamAsFromTheirPlan) {
  sampling_.augmentation = {.upper = 0.3, .typos = 0.3, .joined = 0.3};
  const BatchOptions options{.size = 20, .corpus_weights = {1.5, 1}, .sampling = sampling_, .shard_pairs = 5};
  ASSERT_EQ(shards_of_epoch(*corpus_, options), 2);
  BatchStream stream(std::make_shared<const PreparedCorpus>(folder_ / "train.bin"), options);
  for (int64_t epoch = 0; epoch < 20; ++epoch)
    for (int64_t shard = 0; shard < 2; ++shard)
      for (const auto& pairs : plan_epoch(*corpus_, options, epoch, shard)) {
        const auto batch = stream.next(), expected = make_batch(EpochView(*corpus_, sampling_, epoch), pairs);
        EXPECT_EQ(batch.indices, expected.indices);
        EXPECT_EQ(batch.source, expected.source);
        EXPECT_EQ(batch.target_out, expected.target_out);
      }
}

}  // namespace
}  // namespace nmt::augmented_pairs_test
