#include <limits>

#include "kernel_support.h"

namespace nmt::kernels::test::logit_rows_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Result {
  std::vector<float> block_maxima, maxima, log_sums, weights;
};

Result run(const Kernels& set, const std::vector<float>& logits, int64_t classes, float sharpness = 1) {
  const int64_t rows = std::ssize(logits) / classes;
  Result result{.block_maxima = std::vector<float>(rows * logit_block_count(classes)),
                .maxima = std::vector<float>(rows),
                .log_sums = std::vector<float>(rows),
                .weights = std::vector<float>(logits.size())};
  set.logit_rows({.logits = logits.data(),
                  .classes = classes,
                  .block_maxima = result.block_maxima.data(),
                  .maxima = result.maxima.data(),
                  .log_sums = result.log_sums.data(),
                  .weights = result.weights.data(),
                  .sharpness = sharpness},
                 {0, rows});
  return result;
}

TEST(LogitRows, EqualAPlainLoop) {
  for_each_set([&](const Kernels& set) {
    for (const int64_t classes : {1, 15, 63, 64, 65, 130, 1000}) {
      for (const double scale : {0.1, 12.0, 200.0}) {
        constexpr int64_t kRows = 4;
        auto logits = wave<float>(kRows * classes, 1, scale);
        if (classes > 1) logits[2 * classes] = -kInfinity;
        const auto result = run(set, logits, classes);
        const int64_t blocks = logit_block_count(classes);
        for (int64_t row = 0; row < kRows; ++row) {
          const auto* begin = logits.data() + row * classes;
          const float highest = *std::max_element(begin, begin + classes);
          double sum = 0;
          for (int64_t j = 0; j < classes; ++j) sum += std::exp(double{begin[j]} - highest);
          EXPECT_EQ(result.maxima[row], highest);
          EXPECT_NEAR(result.log_sums[row], std::log(sum), 2e-6);
          for (int64_t block = 0; block < blocks; ++block)
            EXPECT_EQ(
                result.block_maxima[row * blocks + block],
                *std::max_element(begin + block * kLogitBlock, begin + std::min((block + 1) * kLogitBlock, classes)));
        }
      }
    }
  });
}

TEST(LogitRows, WeighByASharpness) {
  for_each_set([&](const Kernels& set) {
    for (const int64_t classes : {1, 15, 63, 64, 65, 130}) {
      for (const float sharpness : {0.5F, 1.0F, 2.0F}) {
        const auto logits = wave<float>(2 * classes, 1, 12.0);
        const auto result = run(set, logits, classes, sharpness);
        for (int64_t i = 0; i < 2 * classes; ++i) {
          const double expected = std::exp((double{logits[i]} - result.maxima[i / classes]) * sharpness);
          EXPECT_NEAR(result.weights[i], expected, 1e-5 * expected) << classes << " classes, token " << i;
        }
      }
    }
  });
}

TEST(LogitRows, AreNotFiniteWhereARowIsDamaged) {
  for_each_set([&](const Kernels& set) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity}) {
      auto logits = wave<float>(2 * 100, 1);
      logits[170] = bad;
      const auto log_sums = run(set, logits, 100).log_sums;
      EXPECT_TRUE(std::isfinite(log_sums[0]));
      EXPECT_FALSE(std::isfinite(log_sums[1]));
    }
    EXPECT_FALSE(std::isfinite(run(set, std::vector<float>(70, -kInfinity), 70).log_sums[0]));
  });
}

}  // namespace
}  // namespace nmt::kernels::test::logit_rows_test
