#include "nn/ops/linear.h"

#include <ATen/ops/linear.h>
#include <gtest/gtest.h>

#include "tensor_support.h"

namespace nmt::linear_test {
namespace {

using test::expect_close;
using test::wave;

TEST(Linear, AppliesItsEpilogueOnEveryWay) {
  Linear layer(20, 9, LinearImpl::Bias::kYes);
  {
    const torch::NoGradGuard no_grad;
    for (auto& parameter : layer->parameters()) parameter.copy_(wave(parameter.sizes()));
  }
  const auto x = wave({4, 20}, 1, 3), residual = wave({4, 9}, 1, 5);
  for (const auto activation : {Activation::kNone, Activation::kRelu, Activation::kGelu, Activation::kSwish}) {
    const Epilogue epilogue{.activation = activation, .residual = residual};
    const auto expected = activate(at::linear(x, layer->weight, layer->bias), activation) + residual;
    expect_close(layer(x, epilogue), expected, 1e-5);
    const torch::NoGradGuard decoding;
    expect_close(layer(x, epilogue), expected, 1e-5);
  }
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
}  // namespace nmt::linear_test
