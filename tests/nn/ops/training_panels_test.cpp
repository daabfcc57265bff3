#include "nn/ops/training_panels.h"

#include <ATen/ops/linear.h>
#include <gtest/gtest.h>

#include <vector>

#include "nn/kernels/training/training_product.h"
#include "tensor_support.h"

namespace nmt::training_panels_test {
namespace {

using test::expect_close;
using test::wave;

torch::Tensor rounded(const torch::Tensor& x) { return x.to(torch::kBFloat16).to(torch::kFloat64); }
torch::Tensor leaf(const torch::Tensor& x) { return x.detach().clone().requires_grad_(true); }

TEST(TrainingPanels, AreForTrainingInBfloat16) {
  const bool there = kernels::training_kernels() != nullptr;
  const auto x = wave({3, 6}).to(torch::kBFloat16), weight = wave({4, 6});
  EXPECT_EQ(has_training_kernel(x, weight), there);
  EXPECT_FALSE(has_training_kernel(wave({3, 6}), weight));
  EXPECT_FALSE(has_training_kernel(x, wave({5, 6}))) << "an odd number of outputs";
  EXPECT_FALSE(has_training_kernel(wave({3, 7}).to(torch::kBFloat16), wave({4, 7})));
  const torch::NoGradGuard no_gradients;
  EXPECT_FALSE(has_training_kernel(x, weight));
}

// Two maps of one x, beside the same in float64 from what bfloat16 makes of x, the weights and the gradient of y.
TEST(TrainingPanels, MultiplyWithGradients) {
  if (!kernels::training_kernels()) return;  // the case above says what then holds
  for (const bool with_bias : {true, false}) {
    const auto x = leaf((wave({3, 41, 130}, 1, 2) / 10).to(torch::kBFloat16));
    const std::vector<AffineMap> maps = {
        {leaf(wave({66, 130}, 1, 3)), with_bias ? leaf(wave({66}, 1, 4)) : torch::Tensor()},
        {leaf(wave({10, 130}, 1, 5)), with_bias ? leaf(wave({10}, 1, 6)) : torch::Tensor()}};
    const auto of_y = (wave({3, 41, 76}, 1, 7) / 10).to(torch::kBFloat16);
    const auto y = multiply_for_training(x, maps);
    y.backward(of_y);

    const auto wide_x = leaf(x.to(torch::kFloat64));
    const auto wide_weight = leaf(rounded(torch::cat({maps[0].weight, maps[1].weight})));
    const auto wide_bias =
        with_bias ? leaf(torch::cat({maps[0].bias, maps[1].bias}).to(torch::kFloat64)) : torch::Tensor();
    const auto expected = at::linear(wide_x, wide_weight, wide_bias);
    expected.backward(of_y.to(torch::kFloat64));
    ASSERT_EQ(y.scalar_type(), torch::kBFloat16);
    expect_close(y.detach().to(torch::kFloat64), expected.detach(), 0.05);
    expect_close(x.grad().to(torch::kFloat64), wide_x.grad(), 0.05);
    ASSERT_EQ(maps[0].weight.grad().scalar_type(), torch::kFloat32);
    const auto gradient = torch::cat({maps[0].weight.grad(), maps[1].weight.grad()}).to(torch::kFloat64);
    expect_close(gradient, wide_weight.grad(), 1e-3);
    if (!with_bias) continue;
    expect_close(torch::cat({maps[0].bias.grad(), maps[1].bias.grad()}).to(torch::kFloat64), wide_bias.grad(), 1e-3);
  }
}

TEST(TrainingPanels, LeaveOutTheGradientThatNobodyWants) {
  if (!kernels::training_kernels()) return;
  const auto x = wave({5, 6}).to(torch::kBFloat16);
  const std::vector<AffineMap> maps = {{leaf(wave({4, 6})), {}}};
  multiply_for_training(x, maps).sum().backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(maps[0].weight.grad().defined());
}

}  // namespace
}  // namespace nmt::training_panels_test
