#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "search/list_search.h"
#include "support.h"
#include "text/tokenizer.h"

namespace nmt::best_tokens_test {
namespace {

struct Expected {
  std::vector<int32_t> ids;
  std::vector<double> log_probabilities;
};

/// The best by sorting the whole row.
Expected best_by_sorting(const float* logits, int64_t vocabulary, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < vocabulary; ++i) sum += std::exp(static_cast<double>(logits[i]));
  std::vector<int32_t> ids(vocabulary);
  std::iota(ids.begin(), ids.end(), 0);
  std::erase(ids, SpecialIds::kPad);
  std::erase(ids, SpecialIds::kBegin);
  std::stable_sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) { return logits[a] > logits[b]; });
  ids.resize(std::min<size_t>(ids.size(), count));
  Expected expected{ids, {}};
  for (const int32_t id : ids) expected.log_probabilities.push_back(logits[id] - std::log(sum));
  return expected;
}

/// Logits of few different values where `levels` > 0: with many ties.
torch::Tensor random_logits(uint64_t seed, int64_t rows, int64_t vocabulary, uint64_t levels) {
  auto logits = torch::empty({rows, vocabulary}, torch::kFloat);
  CounterRandom random({seed});
  for (int64_t i = 0; i < logits.numel(); ++i) {
    logits.data_ptr<float>()[i] =
        levels ? static_cast<float>(random.below(levels)) : static_cast<float>(10 * random.uniform() - 5);
  }
  return logits;
}

BestTokens best_tokens(const torch::Tensor& logits, int64_t count) {
  return step_scores(logits, {.count = count}).best;
}

TEST(BestTokens, EqualsSortingTheRow) {
  for (const int64_t vocabulary : {4, 63, 64, 65, 130, 1000, 5000}) {
    for (const uint64_t levels : {0, 3}) {
      const auto logits = random_logits(vocabulary + levels, 20, vocabulary, levels);
      for (const int64_t count : {1, 2, 7, 100}) {
        const auto best = best_tokens(logits, count);
        ASSERT_EQ(best.width, std::min(count, vocabulary));
        for (int64_t row = 0; row < 20; ++row) {
          const auto expected = best_by_sorting(logits.data_ptr<float>() + row * vocabulary, vocabulary, count);
          for (int64_t i = 0; i < best.width; ++i) {
            const int64_t at = row * best.width + i;
            if (i >= std::ssize(expected.ids)) {
              EXPECT_EQ(best.ids[at], BestTokens::kNone);
              continue;
            }
            ASSERT_EQ(best.ids[at], expected.ids[i]) << "row " << row << " rank " << i << " of " << vocabulary;
            EXPECT_NEAR(best.log_probabilities[at], expected.log_probabilities[i], 2e-6);
          }
        }
      }
    }
  }
}

TEST(BestTokens, ARowDoesNotDependOnTheOthers) {
  const auto logits = random_logits(1, 37, 777, 0);
  const auto together = best_tokens(logits, 5);
  for (int64_t row = 0; row < 37; ++row) {
    const auto alone = best_tokens(logits.narrow(0, row, 1), 5);
    for (int64_t i = 0; i < 5; ++i) {
      EXPECT_EQ(alone.ids[i], together.ids[row * 5 + i]);
      EXPECT_EQ(alone.log_probabilities[i], together.log_probabilities[row * 5 + i]) << "to the bit";
    }
  }
}

TEST(BestTokens, ImpossibleTokensAreNotNamed) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto logits = torch::tensor({5.0f, -infinity, 5.0f, 1.0f, -infinity, 2.0f}).unsqueeze(0);
  const auto best = best_tokens(logits, 4);
  EXPECT_EQ(best.ids, (std::vector<int32_t>{5, 3, BestTokens::kNone, BestTokens::kNone}));
}

TEST(BestTokens, RowsThatAreNoDistributionAreRefused) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (const float bad : {infinity, nan}) {
    auto logits = random_logits(2, 3, 100, 0);
    logits.data_ptr<float>()[150] = bad;
    EXPECT_EQ(test::message_of<Error>([&] { best_tokens(logits, 3); }),
              "the model's output is not a number: its weights are damaged; use another checkpoint");
  }
  EXPECT_THROW(best_tokens(torch::full({1, 10}, -infinity), 3), Error);
}

TEST(BestTokens, TheDeviceAgreesWithTheProcessor) {
  if (!torch::hasCUDA()) GTEST_SKIP() << "no CUDA device here";
  const auto logits = random_logits(3, 50, 500, 0);
  const auto here = best_tokens(logits, 6), there = best_tokens(logits.to(torch::kCUDA), 6);
  EXPECT_EQ(here.ids, there.ids);
  for (size_t i = 0; i < here.ids.size(); ++i) {
    EXPECT_NEAR(here.log_probabilities[i], there.log_probabilities[i], 1e-5);
  }
}

}  // namespace
}  // namespace nmt::best_tokens_test
