#include <ATen/ops/linear.h>
#include <gtest/gtest.h>

#include <vector>

#include "nn/kernels/products.h"
#include "nn/ops/linear.h"
#include "nn/training_sets.h"
#include "tensor_support.h"

namespace nmt::training_panels_test {
namespace {

using test::expect_close;
using test::wave;

torch::Tensor leaf(const torch::Tensor& x) { return x.detach().clone().requires_grad_(true); }

constexpr torch::ScalarType kTypes[] = {torch::kFloat32, torch::kBFloat16};

bool is_there(torch::ScalarType type) {
  return kernels::training_kernels(type == torch::kFloat32 ? kernels::Type::kFloat : kernels::Type::kBfloat16);
}

TEST(TrainingPanels, AreForTraining) {
  for (const auto type : kTypes) {
    const auto x = wave({3, 6}).to(type), weight = wave({4, 6});
    const bool there = is_there(type), takes_odd = there && type == torch::kFloat32;
    EXPECT_EQ(has_training_kernel(x, weight), there);
    EXPECT_EQ(has_training_kernel(x, wave({5, 6})), takes_odd) << "an odd number of outputs";
    EXPECT_EQ(has_training_kernel(wave({3, 7}).to(type), wave({4, 7})), takes_odd);
    EXPECT_FALSE(has_training_kernel(x, weight.to(torch::kFloat64)));
    EXPECT_FALSE(has_training_kernel(x.to(torch::kFloat64), weight));
    const torch::NoGradGuard no_gradients;
    EXPECT_FALSE(has_training_kernel(x, weight));
  }
}

// Two maps of one x, beside the same in float64 from what the type makes of x, the weights and the gradient of y.
TEST(TrainingPanels, MultiplyWithGradients) {
  test::with_each_training_set([](torch::ScalarType type) {
    for (const bool with_bias : {true, false}) {
      const double tolerance = type == torch::kFloat32 ? 1e-4 : 0.05;
      const auto x = leaf((wave({3, 41, 130}, 1, 2) / 10).to(type));
      const std::vector<AffineMap> maps = {
          {leaf(wave({66, 130}, 1, 3)), with_bias ? leaf(wave({66}, 1, 4)) : torch::Tensor()},
          {leaf(wave({10, 130}, 1, 5)), with_bias ? leaf(wave({10}, 1, 6)) : torch::Tensor()}};
      const auto of_y = (wave({3, 41, 76}, 1, 7) / 10).to(type);
      const auto y = multiply_for_training(x, maps);
      y.backward(of_y);

      const auto wide_x = leaf(x.to(torch::kFloat64));
      const auto wide_weight = leaf(torch::cat({maps[0].weight, maps[1].weight}).to(type).to(torch::kFloat64));
      const auto wide_bias =
          with_bias ? leaf(torch::cat({maps[0].bias, maps[1].bias}).to(torch::kFloat64)) : torch::Tensor();
      const auto expected = at::linear(wide_x, wide_weight, wide_bias);
      expected.backward(of_y.to(torch::kFloat64));
      ASSERT_EQ(y.scalar_type(), type);
      expect_close(y.detach().to(torch::kFloat64), expected.detach(), tolerance);
      expect_close(x.grad().to(torch::kFloat64), wide_x.grad(), tolerance);
      ASSERT_EQ(maps[0].weight.grad().scalar_type(), torch::kFloat32);
      const auto gradient = torch::cat({maps[0].weight.grad(), maps[1].weight.grad()}).to(torch::kFloat64);
      expect_close(gradient, wide_weight.grad(), 1e-3);
      if (!with_bias) continue;
      expect_close(torch::cat({maps[0].bias.grad(), maps[1].bias.grad()}).to(torch::kFloat64), wide_bias.grad(), 1e-3);
    }
  });
}

TEST(TrainingPanels, LeaveOutTheGradientThatNobodyWants) {
  test::with_each_training_set([](torch::ScalarType type) {
    const auto x = wave({5, 6}).to(type);
    const std::vector<AffineMap> maps = {{leaf(wave({4, 6})), {}}};
    multiply_for_training(x, maps).sum().backward();
    EXPECT_FALSE(x.grad().defined());
    EXPECT_TRUE(maps[0].weight.grad().defined());
  });
}

}  // namespace
}  // namespace nmt::training_panels_test
