#include <gtest/gtest.h>

#include <cmath>

#include "tensor_support.h"
#include "training/optimizers/optimizer.h"

namespace nmt::adadelta_test {
namespace {

using test::expect_close;

const std::vector<std::vector<float>> kGradients = {
    {1.0f, -0.5f, 0.0f}, {0.25f, 3.0f, -2.0f}, {-1.0f, 0.125f, 0.5f}, {0.5f, -4.0f, 1.0f}};

torch::Tensor start(torch::Device device = torch::kCPU) {
  return torch::tensor({1.0f, -2.0f, 0.5f}).to(device).requires_grad_(true);
}

// Values of tests/training/golden/make_adadelta.py.
TEST(Adadelta, FollowsThePaper) {
  const std::vector<std::vector<double>> plain = {{0.9367860459, -1.9368805597, 0.5000000000},
                                                  {0.9140114515, -2.0251329602, 0.5632376490},
                                                  {0.9799357205, -2.0305065766, 0.5404499171},
                                                  {0.9404348095, -1.9319266648, 0.4978140251}};
  const std::vector<std::vector<double>> decayed = {{0.9167860459, -1.8968805597, 0.4900000000},
                                                    {0.8756757306, -1.9471953490, 0.5434376490},
                                                    {0.9240864849, -1.9136250584, 0.5097811642},
                                                    {0.8661038442, -1.7767726454, 0.4569496489}};
  for (const auto device : test::devices()) {
    for (const double decay : {0.0, 0.01}) {
      auto x = start(device);
      Adadelta adadelta({{"x", x}}, {.rho = 0.9, .epsilon = 1e-4, .weight_decay = decay});
      for (size_t t = 0; t < kGradients.size(); ++t) {
        x.mutable_grad() = torch::tensor(kGradients[t]).to(device);
        adadelta.step(2.0);
        const auto& expected = decay > 0 ? decayed[t] : plain[t];
        expect_close(x.detach().cpu().to(torch::kFloat64), torch::tensor(expected, torch::kFloat64), 2e-6,
                     device.str() + ", update " + std::to_string(t + 1));
      }
      expect_close(adadelta.state()[0].second.cpu(), torch::tensor({0.1929625f, 2.34863125f, 0.4465f}), 1e-6);
      expect_close(adadelta.state()[1].second.cpu(), torch::tensor({2.20123743e-4f, 4.73926087e-4f, 1.38109054e-4f}),
                   1e-8);
    }
  }
}

TEST(Adadelta, LeavesParametersWithoutGradient) {
  auto x = start(), y = start();
  Adadelta adadelta({{"x", x}, {"y", y}}, {.weight_decay = 0.5});
  x.mutable_grad() = torch::ones({3});
  adadelta.step(1);
  EXPECT_FALSE(x.equal(start()));
  EXPECT_TRUE(y.equal(start()));
}

TEST(Adadelta, IsMadeAsConfigured) {
  TrainingConfig config;
  config.optimizer = OptimizerKind::kAdadelta;
  config.adadelta_rho = 0.5;
  config.adadelta_epsilon = 1.0;
  auto x = start();
  const auto made = make_optimizer(config, {{"x", x}});
  x.mutable_grad() = torch::full({3}, 2.0f);
  made->step(1);  // E[g²] = 0.5 · 4 = 2, D = -sqrt(1 / 3) · 2
  expect_close(x.detach(), start().detach() - 2 / std::sqrt(3.0), 1e-6);
}

}  // namespace
}  // namespace nmt::adadelta_test
