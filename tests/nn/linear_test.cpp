#include "nn/linear.h"

#include <ATen/ops/linear.h>
#include <gtest/gtest.h>

#include "tensor_support.h"

namespace nmt {
namespace {

using test::expect_close;
using test::wave;

TEST(PackedMatrix, EqualsLinear) {
  for (const auto& [rows, in, out] : {std::tuple{1, 3, 5}, {7, 16, 32}, {65, 33, 100}, {200, 64, 31}}) {
    const auto x = wave({rows, in}), weight = wave({out, in}, 1, 1), bias = wave({out}, 1, 2);
    PackedMatrix packed;
    expect_close(packed.multiply(x, weight, bias), at::linear(x, weight, bias), 1e-5);
    expect_close(packed.multiply(x, weight, {}), at::linear(x, weight), 1e-5);
  }
}

TEST(PackedMatrix, GivesARowTheSameBitsAloneAndInABatch) {
  const auto x = wave({130, 96}), weight = wave({200, 96}, 1, 1);
  PackedMatrix packed;
  const auto together = packed.multiply(x, weight, {});
  for (const int64_t row : {0, 63, 64, 129})
    EXPECT_TRUE(packed.multiply(x.narrow(0, row, 1), weight, {}).equal(together.narrow(0, row, 1)));
  EXPECT_TRUE(packed.multiply(x.narrow(0, 10, 50), weight, {}).equal(together.narrow(0, 10, 50)));
}

TEST(PackedMatrix, FollowsChangesOfTheWeights) {
  auto weight = wave({8, 4}, 1, 1);
  const auto x = wave({3, 4});
  PackedMatrix packed;
  const auto before = packed.multiply(x, weight, {});
  weight.mul_(2);
  expect_close(packed.multiply(x, weight, {}), before * 2, 1e-6);
}

TEST(Linear, UsesTheTypeOfItsInput) {
  Linear layer(6, 5, LinearImpl::Bias::kYes);
  {
    const torch::NoGradGuard no_grad;
    layer->weight.copy_(wave({5, 6}));
  }
  const auto x = wave({4, 6}, 1, 3);
  const auto exact = layer(x);
  const auto low = layer(x.to(torch::kBFloat16));
  EXPECT_EQ(low.scalar_type(), torch::kBFloat16);
  expect_close(low.to(torch::kFloat32), exact, 0.05);
  low.sum().backward();
  EXPECT_EQ(layer->weight.grad().scalar_type(), torch::kFloat32);
}

}  // namespace
}  // namespace nmt
