#include <gtest/gtest.h>

#include "nn/ops/linear.h"
#include "tensor_support.h"
#include "training/optimizers/optimizer.h"

namespace nmt::packed_weights_test {
namespace {

TEST(PackedMatrix, FollowsAnUpdateOfTheOptimiser) {
  auto weight = test::wave({6, 4}).requires_grad_(true);
  const auto x = test::wave({3, 4}, 1, 1);
  PackedMatrix packed;
  const auto decode = [&] {
    const torch::NoGradGuard no_grad;
    return packed.multiply(x, {AffineMap{weight, torch::Tensor()}});
  };
  const auto before = decode();
  Adam adam({{"weight", weight}}, {});
  linear(x, weight, torch::Tensor()).sum().backward();
  adam.step(0.1);
  const auto after = decode();
  EXPECT_FALSE(after.equal(before));
  test::expect_close(after, torch::matmul(x, weight.detach().t()), 1e-5);
}

}  // namespace
}  // namespace nmt::packed_weights_test
