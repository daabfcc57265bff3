#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "nn/ops/forward_context.h"
#include "tensor_support.h"

namespace nmt::dropout_test {
namespace {

TEST(Dropout, KeepsTheExpectedShareAndScalesIt) {
  for (const double p : {0.1, 0.3, 0.5}) {
    ForwardContext pass(1, 1, 0);
    const auto y = dropout(torch::ones({400, 500}), p, pass);
    const double kept = (y != 0).to(torch::kFloat64).mean().item<double>();
    EXPECT_NEAR(kept, 1 - p, 0.004);  // three standard deviations of 200,000 draws and more
    EXPECT_NEAR(y.max().item<double>(), 1 / (1 - p), 1e-6);
  }
}

TEST(Dropout, IsAFunctionOfSeedUpdateAndSite) {
  const auto x = torch::ones({64, 64});
  const auto mask = [&](uint64_t seed, int64_t update, int64_t micro_batch, int site) {
    ForwardContext pass(seed, update, micro_batch);
    for (int i = 0; i < site; ++i) pass.next_key();
    return dropout(x, 0.5, pass);
  };
  const auto base = mask(1, 1, 0, 0);
  EXPECT_TRUE(base.equal(mask(1, 1, 0, 0)));
  const auto expect_unrelated = [](const torch::Tensor& one, const torch::Tensor& other) {
    const double same = (one == other).to(torch::kFloat64).mean().item<double>();
    EXPECT_NEAR(same, 0.5, 0.05);  // unrelated masks agree on half of the places
  };
  for (const auto& other :
       {mask(2, 1, 0, 0), mask(1, 2, 0, 0), mask(1, 1, 1, 0), mask(1, 1, 0, 1), mask(1, 1, 1024, 0)})
    expect_unrelated(base, other);
  for (const int64_t micro_batch : {1024, 1'000'000}) {
    expect_unrelated(mask(1, 5, micro_batch, 0), mask(1, 5 + micro_batch / 1024, micro_batch % 1024, 0));
  }
}

TEST(Dropout, DoesNotDependOnThreadsAndRangeBorders) {
  const auto x = test::wave({333, 257});  // odd sizes: ranges begin in the middle of a draw
  const int before = at::get_num_threads();
  std::vector<torch::Tensor> results;
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    ForwardContext pass(5, 9, 0);
    results.push_back(dropout(x, 0.3, pass));
  }
  at::set_num_threads(before);
  EXPECT_TRUE(results[0].equal(results[1]));
  EXPECT_TRUE(results[0].equal(results[2]));
}

TEST(Dropout, GivesTheGradientOfItsMask) {
  auto x = test::wave({30, 17}).requires_grad_(true);
  ForwardContext pass(1, 2, 3);
  const auto y = dropout(x, 0.4, pass);
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::where(y == 0, 0.0, 1 / (1 - 0.4)).to(torch::kFloat32)) ||
              (x.grad() - (y / x).detach()).abs().max().item<double>() < 1e-5);
}

TEST(Dropout, NeighboursAreIndependent) {
  ForwardContext pass(1, 1, 0);
  const auto kept = (dropout(torch::ones({1 << 18}), 0.5, pass) != 0).to(torch::kFloat64);
  for (const int64_t lag : {1, 2, 3, 16, 256, 4096}) {
    const auto both =
        (kept.narrow(0, 0, kept.size(0) - lag) * kept.narrow(0, lag, kept.size(0) - lag)).mean().item<double>();
    EXPECT_NEAR(both, 0.25, 0.006) << "lag " << lag;
  }
}

TEST(ReluDropout, IsDropoutOfTheRectifiedOnOneOrMoreThreads) {
  const int before = at::get_num_threads();
  for (const int threads : {1, 3}) {
    at::set_num_threads(threads);
    for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
      for (const double p : {0.0, 0.3}) {
        const auto values = test::wave({333, 257}).to(type), gradient = test::wave({333, 257}, 2, 3).to(type);
        auto fused = values.clone().requires_grad_(true), apart = values.clone().requires_grad_(true);
        ForwardContext one(5, 9, 0), other(5, 9, 0);
        const auto y = relu_dropout(fused, p, one);
        const auto expected = dropout(torch::relu(apart), p, other);
        EXPECT_TRUE(y.equal(expected));
        EXPECT_GT((y > 0).sum().item<int64_t>(), 20000);
        y.backward(gradient);
        expected.backward(gradient);
        EXPECT_TRUE(fused.grad().equal(apart.grad()));
        EXPECT_EQ(one.next_key(), other.next_key());
      }
    }
  }
  at::set_num_threads(before);
}

TEST(AddDropped, AddsTheResidualInOnePass) {
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    auto x = test::wave({40, 24}).to(type).requires_grad_(true),
         residual = test::wave({40, 24}, 1, 2).to(type).requires_grad_(true);
    ForwardContext fused(1, 1, 0), apart(1, 1, 0);
    const auto y = add_dropped(residual, x, 0.25, fused);
    const auto expected = residual.to(torch::kFloat32) + dropout(x.detach().to(torch::kFloat32), 0.25, apart);
    test::expect_close(y.to(torch::kFloat32), expected, type == torch::kFloat32 ? 1e-6 : 2e-2);
    y.sum().backward();
    EXPECT_TRUE(residual.grad().equal(torch::ones_like(residual)));
    EXPECT_EQ((x.grad() == 0).sum().item<int64_t>(), ((y - residual) == 0).sum().item<int64_t>());
  }
}

TEST(Dropout, LeavesItsInputAloneOutsideTraining) {
  const auto x = test::wave({3, 4});
  ForwardContext none, zero(1, 1, 0);
  EXPECT_TRUE(dropout(x, 0.5, none).is_same(x));
  EXPECT_TRUE(dropout(x, 0.0, zero).is_same(x));
}

}  // namespace
}  // namespace nmt::dropout_test
