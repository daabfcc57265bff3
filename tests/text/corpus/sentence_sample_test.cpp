#include <gmock/gmock.h>

#include <map>
#include <set>

#include "text/sentencepiece/sentencepiece_trainer.h"

namespace nmt::sentence_sample_test {
namespace {

std::vector<std::string> sample(int64_t capacity, uint64_t seed, int lines) {
  SentenceSample sample(capacity, seed);
  for (int i = 0; i < lines; ++i) sample.offer(std::to_string(i));
  EXPECT_EQ(sample.offered(), lines);
  EXPECT_EQ(sample.is_partial(), capacity > 0 && lines > capacity);
  return sample.take();
}

TEST(SentenceSample, HoldsEveryLineWhereThereIsRoom) {
  const std::vector<std::string> all = {"0", "1", "2"};
  EXPECT_EQ(sample(0, 1, 3), all);
  EXPECT_EQ(sample(3, 1, 3), all);
  EXPECT_EQ(sample(4, 1, 3), all);
}

TEST(SentenceSample, IsAFunctionOfTheSeedWithoutRepeats) {
  const auto first = sample(50, 1, 1000);
  EXPECT_EQ(first.size(), 50u);
  EXPECT_EQ(std::set<std::string>(first.begin(), first.end()).size(), 50u);
  EXPECT_EQ(first, sample(50, 1, 1000));
  EXPECT_NE(first, sample(50, 2, 1000));
}

TEST(SentenceSample, TakesEveryLineEquallyOften) {
  std::map<std::string, int> taken;
  constexpr int kRounds = 4000;
  for (int seed = 0; seed < kRounds; ++seed) {
    for (const auto& line : sample(5, static_cast<uint64_t>(seed), 20)) ++taken[line];
  }
  // Binomial(4000, 1/4): standard deviation 27; five of them.
  for (int i = 0; i < 20; ++i) EXPECT_NEAR(taken[std::to_string(i)], kRounds / 4, 137) << i;
}

}  // namespace
}  // namespace nmt::sentence_sample_test
