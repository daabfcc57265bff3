#include <gtest/gtest.h>

#include <limits>

#include "nn/kernels/kernels.h"
#include "tensor_support.h"

namespace nmt::logit_rows_test {
namespace {

struct Result {
  torch::Tensor block_maxima, maxima, log_sums;
};

Result run(const kernels::Kernels& set, const torch::Tensor& logits) {
  const int64_t rows = logits.size(0), classes = logits.size(1);
  Result result{torch::zeros({rows, kernels::logit_block_count(classes)}), torch::zeros({rows}), torch::zeros({rows})};
  set.logit_rows({.logits = logits.const_data_ptr<float>(),
                  .classes = classes,
                  .block_maxima = result.block_maxima.mutable_data_ptr<float>(),
                  .maxima = result.maxima.mutable_data_ptr<float>(),
                  .log_sums = result.log_sums.mutable_data_ptr<float>()},
                 {0, rows});
  return result;
}

TEST(LogitRows, EqualLogSumExpInEverySet) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    const auto* set = kernels::kernels_by_name(name);
    if (!set) continue;
    for (const int64_t classes : {1, 15, 64, 65, 1000}) {
      for (const double scale : {0.1, 12.0, 200.0}) {
        auto logits = test::wave({4, classes}, scale, 1);
        if (classes > 1) logits[2][0] = -kInfinity;
        const auto wide = logits.to(torch::kFloat64), maxima = wide.amax(1);
        const auto result = run(*set, logits);
        test::expect_close(result.maxima, maxima, 0, name);
        test::expect_close(result.log_sums, (wide - maxima.unsqueeze(1)).exp().sum(1).log(), 2e-6, name);
        for (int64_t block = 0; block * kernels::kLogitBlock < classes; ++block) {
          const int64_t first = block * kernels::kLogitBlock;
          const auto part = logits.slice(1, first, std::min(first + kernels::kLogitBlock, classes));
          EXPECT_TRUE(result.block_maxima.select(1, block).equal(part.amax(1))) << name;
        }
      }
    }
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity}) {
      auto logits = test::wave({2, 100});
      logits[1][70] = bad;
      const auto log_sums = run(*set, logits).log_sums;
      EXPECT_TRUE(log_sums.isfinite()[0].item<bool>());
      EXPECT_FALSE(log_sums.isfinite()[1].item<bool>()) << name;
    }
    EXPECT_FALSE(run(*set, torch::full({1, 70}, -kInfinity)).log_sums.isfinite().any().item<bool>()) << name;
  }
}

}  // namespace
}  // namespace nmt::logit_rows_test
