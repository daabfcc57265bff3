#include <gmock/gmock.h>
#include <torch/torch.h>

#include <limits>
#include <numeric>

#include "training/loop/interval_meter.h"

namespace nmt::tensor_statistics_test {
namespace {

torch::Tensor parameter(std::vector<float> values, std::vector<float> gradient = {}) {
  auto tensor = torch::tensor(values).requires_grad_();
  if (!gradient.empty()) tensor.mutable_grad() = torch::tensor(gradient);
  return tensor;
}

TEST(GroupNorms, JoinWhatTheFirstPartOfTheNameJoins) {
  const NamedTensors parameters = {{"embedding", parameter({1, 2, 2}, {0, 3, 4})},
                                   {"encoder_0.inner.weight", parameter({3}, {1})},
                                   {"encoder_1.inner.weight", parameter({5})},
                                   {"encoder_0.inner.bias", parameter({4, 12}, {2, 2})}};
  const auto norms = group_norms(parameters);
  ASSERT_EQ(norms.size(), 3u);
  EXPECT_EQ(norms[0].group, "embedding");
  EXPECT_DOUBLE_EQ(norms[0].weights, 3);
  EXPECT_DOUBLE_EQ(norms[0].gradients, 5);
  EXPECT_EQ(norms[1].group, "encoder_0");
  EXPECT_NEAR(norms[1].weights, 13, 1e-6);
  EXPECT_NEAR(norms[1].gradients, 3, 1e-6);
  EXPECT_EQ(norms[2].group, "encoder_1");
  EXPECT_DOUBLE_EQ(norms[2].weights, 5);
  EXPECT_DOUBLE_EQ(norms[2].gradients, 0);
}

TEST(TensorHistograms, CountEveryValueOnce) {
  std::vector<float> values(31);
  std::iota(values.begin(), values.end(), 0.0f);  // 0 to 30: one a bucket, two in the last
  const auto histograms = tensor_histograms({{"a", parameter(values, std::vector<float>(31, 0.5f))}});
  ASSERT_EQ(histograms.size(), 2u);
  const auto& weights = histograms[0];
  EXPECT_EQ(weights.name, "weights/a");
  EXPECT_EQ(weights.min, 0);
  EXPECT_EQ(weights.max, 30);
  EXPECT_EQ(weights.sum, 465);
  EXPECT_NEAR(weights.sum_of_squares, 9455, 0.01);
  std::vector<double> counts(30, 1);
  counts.back() = 2;
  EXPECT_EQ(weights.counts, counts);
  ASSERT_EQ(weights.limits.size(), 30u);
  EXPECT_DOUBLE_EQ(weights.limits.front(), 1);
  EXPECT_DOUBLE_EQ(weights.limits.back(), 30);
  const auto& gradients = histograms[1];
  EXPECT_EQ(gradients.name, "gradients/a");
  EXPECT_THAT(gradients.limits, testing::ElementsAre(0.5));
  EXPECT_THAT(gradients.counts, testing::ElementsAre(31));
}

TEST(TensorHistograms, LeaveOutWhatIsNotFinite) {
  const auto histograms = tensor_histograms({{"a", parameter({1, 2}, {1, std::numeric_limits<float>::infinity()})},
                                             {"b", parameter({1, std::numeric_limits<float>::quiet_NaN()})}});
  ASSERT_EQ(histograms.size(), 1u);
  EXPECT_EQ(histograms[0].name, "weights/a");
}

}  // namespace
}  // namespace nmt::tensor_statistics_test
