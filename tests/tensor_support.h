#pragma once

#include <ATen/DeviceAccelerator.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <functional>
#include <string>
#include <vector>

/// What tests with tensors share.
namespace nmt::test {

/// The devices a test runs on: the CPU, and the accelerator that LibTorch has: a GPU, or the simulated device.
inline std::vector<torch::Device> devices() {
  std::vector<torch::Device> found{torch::kCPU};
  if (at::accelerator::deviceCount() > 0) found.emplace_back(*at::getAccelerator(), 0);
  return found;
}

/// Fails with the largest difference and its place. Types and shapes must agree too.
inline void expect_close(const torch::Tensor& actual, const torch::Tensor& expected, double tolerance,
                         const std::string& what = "") {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  ASSERT_GT(expected.numel(), 0) << what << ": nothing to compare";
  const auto difference = (actual.to(torch::kFloat64) - expected.to(torch::kFloat64)).abs().flatten();
  const auto worst = difference.argmax().item<int64_t>();
  ASSERT_FALSE(difference.isnan().any().item<bool>()) << what << ": NaN";
  EXPECT_LE(difference[worst].item<double>(), tolerance)
      << what << " at flat index " << worst << ": " << actual.flatten()[worst].item<double>() << " against "
      << expected.flatten()[worst].item<double>();
}

/// Weights set by a formula, no random stream: cos of a running index, scaled.
inline torch::Tensor wave(at::IntArrayRef sizes, double scale = 1, double start = 0) {
  int64_t count = 1;
  for (const auto n : sizes) count *= n;
  return ((torch::arange(count, torch::kFloat64) * 0.7 + start).cos() * scale).to(torch::kFloat32).view(sizes);
}

/// Compares the gradient of a scalar function of x (float32) with central differences at every `stride`-th element.
inline void expect_gradient(const std::function<torch::Tensor(const torch::Tensor&)>& function,
                            const torch::Tensor& at_x, double step, double tolerance, int64_t stride = 1) {
  auto x = at_x.clone().requires_grad_(true);
  function(x).backward();
  ASSERT_TRUE(x.grad().defined());
  const torch::NoGradGuard no_grad;
  for (int64_t i = 0; i < x.numel(); i += stride) {
    auto moved = at_x.clone();
    const double before = moved.flatten()[i].item<double>();
    moved.flatten()[i] = before + step;
    const double up = function(moved).item<double>();
    moved.flatten()[i] = before - step;
    const double down = function(moved).item<double>();
    const double expected = (up - down) / (2 * step);
    EXPECT_NEAR(x.grad().flatten()[i].item<double>(), expected, tolerance * std::max(1.0, std::abs(expected)))
        << "element " << i;
  }
}

}  // namespace nmt::test
