#include "data/alignment/lexicon_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "base/random.h"
#include "data/preparation/prepared_corpus_writer.h"
#include "support.h"

namespace nmt::lexicon_training_test {
namespace {

using Pairs = std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>>;

/// Some pairs as nmt-prepro writes them.
class Corpus {
 public:
  explicit Corpus(const Pairs& pairs) {
    PreparedCorpusWriter writer(folder_ / "train.bin");
    for (const auto& [source, target] : pairs)
      writer.add({.source = source, .target = target, .source_text = "", .target_text = "", .corpus = 0});
    writer.finish();
    corpus_.emplace(folder_ / "train.bin");
  }
  PieceTranslations train(int64_t vocabulary, const LexiconOptions& options) const {
    return train_lexicon(*corpus_, vocabulary, vocabulary, options).value();
  }

  test::TemporaryDirectory folder_;
  std::optional<PreparedCorpus> corpus_;
};

/// Pairs whose target is the source with 10 added, in another order, and noise.
Pairs noisy_pairs(int count) {
  Pairs pairs;
  for (int i = 0; i < count; ++i) {
    CounterRandom random({7, static_cast<uint64_t>(i)});
    const auto draw = [&](int limit) { return static_cast<int32_t>(random.uniform() * limit); };
    auto& [source, target] = pairs.emplace_back();
    for (int length = draw(12); length >= 0; --length) source.push_back(4 + draw(300));
    for (auto piece = source.rbegin(); piece != source.rend(); ++piece) target.push_back(*piece + 10);
    target.push_back(4 + draw(3));
  }
  return pairs;
}

void expect_equal(const PieceTranslations& a, const PieceTranslations& b) {
  ASSERT_EQ(a.best.size(), b.best.size());
  for (size_t s = 0; s < a.best.size(); ++s) {
    ASSERT_EQ(a.best[s].size(), b.best[s].size()) << "source " << s;
    for (size_t i = 0; i < a.best[s].size(); ++i) {
      EXPECT_EQ(a.best[s][i].target, b.best[s][i].target) << "source " << s;
      EXPECT_EQ(a.best[s][i].probability, b.best[s][i].probability) << "source " << s;  // bit for bit
    }
  }
  EXPECT_EQ(a.frequent, b.frequent);
}

// golden/make_lexicon.py computes these probabilities with an implementation of its own.
TEST(LexiconTraining, IsModelOne) {
  const auto cases = nlohmann::json::parse(read_file(test::source_directory() / "tests/data/golden/lexicon.json"));
  ASSERT_EQ(cases.size(), 3u);
  for (const auto& golden : cases) {
    const Corpus corpus(golden.at("pairs").get<Pairs>());
    const auto made = corpus.train(20, {.candidates = 20, .iterations = golden.at("iterations")});
    std::map<std::pair<int32_t, int32_t>, double> expected;
    for (const auto& row : golden.at("probabilities")) expected[{row[0], row[1]}] = row[2];
    size_t found = 0;
    for (int32_t s = 0; s < 20; ++s) {
      for (size_t i = 0; i < made.best[s].size(); ++i) {
        const auto [target, probability] = made.best[s][i];
        ASSERT_TRUE(expected.contains({s, target})) << s << " " << target;
        EXPECT_NEAR(probability, (expected[{s, target}]), 1e-6) << golden.at("name") << ": " << s << " to " << target;
        EXPECT_LE(probability, made.best[s][i > 0 ? i - 1 : 0].probability);
        ++found;
      }
    }
    const auto probable = std::ranges::count_if(expected, [](const auto& one) { return one.second >= 1e-4; });
    EXPECT_EQ(static_cast<int64_t>(found), probable) << golden.at("name");
  }
}

TEST(LexiconTraining, DoesNotDependOnTheThreads) {
  const Corpus corpus(noisy_pairs(500));
  const auto expected = corpus.train(320, {.candidates = 9, .threads = 1});
  for (const int threads : {2, 3, 8}) expect_equal(corpus.train(320, {.candidates = 9, .threads = threads}), expected);
}

TEST(LexiconTraining, KeepsTheBestCandidates) {
  const Corpus corpus(noisy_pairs(2000));
  const auto all = corpus.train(320, {.candidates = 50});
  const auto few = corpus.train(320, {.candidates = 2});
  int right = 0;
  for (int32_t s = 4; s < 304; ++s) {
    ASSERT_FALSE(all.best[s].empty());
    right += all.best[s].front().target == s + 10;
    ASSERT_LE(few.best[s].size(), 2u);
    EXPECT_EQ(few.best[s].front().target, all.best[s].front().target);
  }
  EXPECT_EQ(right, 300);
  EXPECT_TRUE(all.best[310].empty()) << "a piece that no source holds";
}

// What is pruned before the iterations is what has the least to say.
TEST(LexiconTraining, PrunedTablesFindTheSameBest) {
  const Corpus corpus(noisy_pairs(2000));
  const auto all = corpus.train(320, {.candidates = 3});
  const auto pruned = corpus.train(320, {.candidates = 3, .kept = 8});
  for (int32_t s = 4; s < 304; ++s) EXPECT_EQ(pruned.best[s].front().target, all.best[s].front().target);
}

TEST(LexiconTraining, OrdersTargetsByFrequency) {
  const Corpus corpus({{{4}, {5, 6, 5}}, {{}, {7, 5}}, {{4}, {7}}});
  EXPECT_THAT(corpus.train(9, {}).frequent, testing::ElementsAre(5, 7, 6, 0, 1, 2, 3, 4, 8));
}

TEST(LexiconTraining, StopsWhenAsked) {
  const Corpus corpus(noisy_pairs(50));
  EXPECT_FALSE(train_lexicon(*corpus.corpus_, 320, 320, {.should_stop = [] { return true; }}).has_value());
}

TEST(LexiconTraining, OfNothingIsEmpty) {
  const Corpus corpus({});
  EXPECT_TRUE(corpus.train(6, {}).best.at(5).empty());
}

}  // namespace
}  // namespace nmt::lexicon_training_test
