#include "data/alignment/hmm_aligner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "data/alignment/alignment_files.h"
#include "data/preparation/prepared_corpus_writer.h"
#include "support.h"

namespace nmt::hmm_aligner_test {
namespace {

using Ids = std::vector<int32_t>;
using Links = HmmAligner::Links;
constexpr int64_t kVocabulary = 400;

/// Pairs whose target is the source with 100 added, in the same order; piece 4 stands in targets alone, anywhere.
class Corpus {
 public:
  explicit Corpus(int pairs) {
    PreparedCorpusWriter writer(folder_ / "train.bin");
    for (int i = 0; i < pairs; ++i) {
      CounterRandom random({3, static_cast<uint64_t>(i)});
      const auto draw = [&](int limit) { return static_cast<int32_t>(random.uniform() * limit); };
      Ids source, target;
      for (int length = 2 + draw(8); length >= 0; --length) {
        source.push_back(10 + draw(40));
        if (draw(6) == 0) target.push_back(4);
        target.push_back(source.back() + 100);
      }
      writer.add({.source = source, .target = target, .source_text = "", .target_text = "", .corpus = 0});
    }
    writer.finish();
    corpus_.emplace(folder_ / "train.bin");
  }
  const PreparedCorpus& pairs() const { return *corpus_; }
  HmmAligner aligner(const HmmOptions& options = {}) const {
    return HmmAligner::train(*corpus_, kVocabulary, kVocabulary, options).value();
  }

 private:
  test::TemporaryDirectory folder_;
  std::optional<PreparedCorpus> corpus_;
};

// Model 1 cannot tell the places of a piece that stands twice; the distance from the piece before does.
TEST(HmmAligner, TellsEqualPiecesByThePlaceOfThoseBefore) {
  const Corpus corpus(300);
  const Ids source = {11, 12, 11, 13}, target = {111, 112, 111, 113};
  EXPECT_EQ(corpus.aligner().align(source, target), (Links{0, 1, 2, 3}));
  EXPECT_EQ(corpus.aligner({.iterations = 0}).align(source, target), (Links{0, 1, 0, 3})) << "Model 1";
}

TEST(HmmAligner, GivesPiecesWithoutASourceToTheEmptyWord) {
  const Corpus corpus(300);
  EXPECT_EQ(corpus.aligner().align(Ids{11, 12}, Ids{111, 4, 112}), (Links{0, HmmAligner::kEmpty, 1}));
  EXPECT_EQ(corpus.aligner().align(Ids{}, Ids{111}), Links{HmmAligner::kEmpty});
  EXPECT_EQ(corpus.aligner().align(Ids{11}, Ids{}), Links{});
}

TEST(HmmAligner, TakesPairsThatItHasNeverSeen) {
  const Corpus corpus(50);
  EXPECT_EQ(corpus.aligner().align(Ids{300, 301}, Ids{302, 303, 304}).size(), 3U);
}

TEST(HmmAligner, DoesNotDependOnThreads) {
  const Corpus corpus(200);
  const auto one = align_pairs(corpus.pairs(), kVocabulary, kVocabulary, {.threads = 1}),
             three = align_pairs(corpus.pairs(), kVocabulary, kVocabulary, {.threads = 3});
  EXPECT_EQ(one->ends, three->ends);
  EXPECT_EQ(one->links, three->links);
}

TEST(HmmAligner, SaysHowProbableAnAlignmentIs) {
  const Corpus corpus(300);
  const auto aligner = corpus.aligner();
  const auto score = [&](const Ids& source, const Ids& target) {
    double log_probability = 1;
    aligner.align(source, target, &log_probability);
    return log_probability;
  };
  EXPECT_LE(score({11}, {111}), 0);
  EXPECT_GT(score({11}, {111}), std::log(0.3));
  EXPECT_LT(score({11}, {112}), score({11}, {111}) - 3);
  const auto aligned = align_pairs(corpus.pairs(), kVocabulary, kVocabulary, {});
  const auto source = corpus.pairs().source(7), target = corpus.pairs().target(7);
  const auto reversed = HmmAligner::train(PiecePairs(corpus.pairs()).exchanged(), kVocabulary, kVocabulary, {}).value();
  double backward = 0;
  reversed.align(target, source, &backward);
  EXPECT_NEAR(aligned->scores[7],
              (score({source.begin(), source.end()}, {target.begin(), target.end()}) / std::ssize(target) +
               backward / std::ssize(source)) /
                  2,
              1e-9);
}

TEST(HmmAligner, StopsWhenAsked) {
  const Corpus corpus(50);
  EXPECT_FALSE(HmmAligner::train(corpus.pairs(), kVocabulary, kVocabulary, {.should_stop = [] { return true; }}));
  int asked = 0;
  const auto later = [&asked] { return ++asked > 8; };
  EXPECT_FALSE(HmmAligner::train(corpus.pairs(), kVocabulary, kVocabulary, {.should_stop = later}));
  EXPECT_FALSE(align_pairs(corpus.pairs(), kVocabulary, kVocabulary, {.should_stop = [] { return true; }}));
}

TEST(AlignPairs, LinksEachPieceWithItsOwn) {
  const Corpus corpus(300);
  std::vector<std::pair<int64_t, int64_t>> progress;
  const auto aligned = align_pairs(corpus.pairs(), kVocabulary, kVocabulary,
                                   {.progress = [&](int64_t done, int64_t all) { progress.emplace_back(done, all); }});
  ASSERT_EQ(std::ssize(aligned->ends), 300);
  int64_t wrong = 0, right = 0;
  for (int64_t pair = 0, at = 0; pair < 300; ++pair) {
    for (; at < static_cast<int64_t>(aligned->ends[pair]); ++at) {
      const auto [source, target] = aligned->links[at];
      const bool same = corpus.pairs().source(pair)[source] + 100 == corpus.pairs().target(pair)[target];
      ++(same ? right : wrong);
    }
  }
  EXPECT_LT(wrong, right / 100);
  EXPECT_GT(right, 1500);
  EXPECT_TRUE(std::ranges::is_sorted(progress));
  EXPECT_EQ(progress.back().first, progress.back().second);
}

}  // namespace
}  // namespace nmt::hmm_aligner_test
