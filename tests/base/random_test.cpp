#include "base/random.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/golden_file.h"

namespace nmt::random_test {
namespace {

using test::golden_rows;

std::vector<uint64_t> numbers(const std::string& text) {
  std::vector<uint64_t> values;
  if (text.empty()) return values;
  for (const auto& field : test::split(text, ' ')) values.push_back(std::stoull(field));
  return values;
}

CounterRandom of_key(const std::vector<uint64_t>& key) {
  switch (key.size()) {
    case 0:
      return CounterRandom({});
    case 1:
      return CounterRandom({key[0]});
    case 2:
      return CounterRandom({key[0], key[1]});
    default:
      return CounterRandom({key[0], key[1], key[2]});
  }
}

// The first numbers for the seed 1234567, as Rosetta Code ("Pseudo-random numbers/Splitmix64") gives them.
TEST(Mix64, IsSplitMix64) {
  const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
                               16408922859458223821u};
  uint64_t state = 1234567;
  for (const uint64_t value : expected) EXPECT_EQ(mix64(state += 0x9e3779b97f4a7c15u), value);
}

// golden/make_golden.py computes these rows with an implementation of its own.
TEST(CounterRandom, GivesTheGoldenNumbers) {
  for (const auto& row : golden_rows("random.tsv", "next")) {
    auto random = of_key(numbers(row[0]));
    for (const uint64_t value : numbers(row[1])) EXPECT_EQ(random.next(), value) << "key " << row[0];
  }
}

TEST(CounterRandom, GivesTheGoldenNumbersBelowABound) {
  for (const auto& row : golden_rows("random.tsv", "below")) {
    auto random = of_key(numbers(row[0]));
    const auto values = numbers(row[1]);
    for (size_t i = 1; i < values.size(); ++i) EXPECT_EQ(random.below(values[0]), values[i]) << "key " << row[0];
  }
}

TEST(CounterRandom, ShufflesAsTheGoldenRows) {
  for (const auto& row : golden_rows("random.tsv", "shuffle")) {
    std::vector<uint64_t> items(10);
    std::iota(items.begin(), items.end(), 0);
    of_key(numbers(row[0])).shuffle(items);
    EXPECT_EQ(items, numbers(row[1])) << "key " << row[0];
  }
}

TEST(CounterRandom, NeighbouringKeysDiffer) {
  std::vector<uint64_t> first;
  for (uint64_t a = 0; a < 30; ++a) {
    first.push_back(CounterRandom({a}).next());
    for (uint64_t b = 0; b < 30; ++b) first.push_back(CounterRandom({a, b}).next());
  }
  std::sort(first.begin(), first.end());
  EXPECT_EQ(std::adjacent_find(first.begin(), first.end()), first.end());
}

TEST(CounterRandom, UniformFillsTheUnitIntervalEvenly) {
  CounterRandom random({3});
  constexpr int kDraws = 100000, kBins = 10;
  std::vector<int> counts(kBins);
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.uniform();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    ++counts[static_cast<int>(x * kBins)];
  }
  // Five standard deviations of a binomial count.
  for (const int count : counts) EXPECT_NEAR(count, kDraws / kBins, 5 * 95);
}

TEST(CounterRandom, EveryPermutationIsEquallyLikely) {
  std::vector<int> counts(6);
  constexpr int kShuffles = 60000;
  for (uint64_t i = 0; i < kShuffles; ++i) {
    std::vector<int> items = {0, 1, 2};
    CounterRandom({5, i}).shuffle(items);
    ++counts[items[0] * 2 + (items[1] > items[2])];
  }
  for (const int count : counts) EXPECT_NEAR(count, kShuffles / 6, 5 * 92);
}

}  // namespace
}  // namespace nmt::random_test
