#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tensor_support.h"
#include "training/optimizers/optimizer.h"

namespace nmt::optimizers_test {
namespace {

using test::expect_close;

// The gradient of update t = 1, 2, ...; as in tests/training/golden/make_optimizers.py, which made the values below.
torch::Tensor gradient(int t) {
  const double size = t == 3 ? 1e-3 : t == 5 ? 30.0 : 1.0;
  return torch::tensor({std::cos(t), -0.5 * t, 0.25, std::sin(2.0 * t), 1.0 / t, -0.75}, torch::kFloat64) * size;
}

torch::Tensor start() { return torch::tensor({1.0f, -2.0f, 0.5f, 0.25f, -0.125f, 3.0f}).view({2, 3}); }

/// Values after `updates` updates of a matrix, or of a vector of its elements.
template <typename Method>
void expect_values(typename Method::Options options, double rate, int updates, std::vector<double> expected,
                   const char* what, at::IntArrayRef sizes = {2, 3}) {
  for (const auto device : test::devices()) {
    auto x = start().view(sizes).to(device).requires_grad_(true);
    Method method({{"x", x}}, options);
    for (int t = 1; t <= updates; ++t) {
      x.mutable_grad() = gradient(t).to(torch::kFloat32).view(sizes).to(device);
      method.step(rate);
    }
    expect_close(x.detach().cpu().flatten().to(torch::kFloat64), torch::tensor(expected, torch::kFloat64), 4e-6,
                 what + (" on " + device.str()));
  }
}

TEST(Optimizers, SgdFollowsItsEquations) {
  expect_values<Sgd>({.momentum = 0.9}, 0.01, 6,
                     {0.8381839177, -0.4263694650, 0.3262646775, 0.5270416327, -0.3147845300, 3.5212059675},
                     "momentum");
  expect_values<Sgd>({.momentum = 0, .weight_decay = {0.1, false}}, 0.01, 6,
                     {0.9047017458, -1.1738698751, 0.4121074550, 0.4055317797, -0.2032869949, 3.2367450450},
                     "decay by the gradient");
}

// The first five updates are not rectified, the others are.
TEST(Optimizers, RAdamFollowsThePaper) {
  const auto options = [](WeightDecay decay) {
    return RAdam::Options{.beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-6, .weight_decay = decay};
  };
  expect_values<RAdam>(options({}), 0.1, 4,
                       {0.9664087555, -1.7281154760, 0.4170039484, 0.1288052015, -0.3765209842, 3.2489881547},
                       "not rectified");
  expect_values<RAdam>(options(0.1), 0.1, 9,
                       {0.5984587365, 0.7008240293, 0.0909774107, 0.6095869721, -0.6083270353, 3.7147908752},
                       "decoupled decay");
  expect_values<RAdam>(options({0.1, false}), 0.1, 9,
                       {0.6208176260, 0.7313976466, 0.0942760463, 0.6312131370, -0.6316875446, 3.8617746214},
                       "decay by the gradient");
}

TEST(Optimizers, AdafactorFollowsThePaper) {
  expect_values<Adafactor>(
      {}, 0.1, 6, {0.9773380578, -1.2631329314, 0.2132779289, 0.3397735450, -0.4251739976, 3.8622292302}, "scaled");
  expect_values<Adafactor>({.scale_by_weights = false, .weight_decay = 0.1}, 0.1, 6,
                           {0.9297725339, -1.4281878308, 0.2938753994, 0.2877700882, -0.3028655297, 3.3542781161},
                           "unscaled");
  expect_values<Adafactor>({}, 0.1, 6,
                           {0.9555285296, -1.2785154837, -0.1334690053, 0.2451359493, -0.6170873311, 3.6334690053},
                           "vector", {6});
}

// A matrix costs a row and a column: that is the point of it.
TEST(Optimizers, AdafactorKeepsRowsAndColumns) {
  auto x = torch::ones({30, 50}).requires_grad_(true);
  int64_t numbers = 0;
  for (const auto& [name, tensor] : Adafactor({{"x", x}}, {}).state()) numbers += tensor.numel();
  EXPECT_EQ(numbers, 30 + 50 + 1);
}

// Decay by the gradient is no AdamW: the moments see it. One update of Adam moves by the rate against the sign of g + d
// x.
TEST(Optimizers, AdamDecaysInTwoForms) {
  const auto after = [](bool decoupled) {
    auto x = torch::tensor({2.0f, -4.0f}).requires_grad_(true);
    Adam adam({{"x", x}}, {.weight_decay = {0.5, decoupled}});
    x.mutable_grad() = torch::tensor({-0.5f, 1.5f});
    adam.step(0.1);
    return x.detach();
  };
  expect_close(after(true), torch::tensor({2.0f + 0.1f - 0.1f, -4.0f - 0.1f + 0.2f}), 1e-6);
  expect_close(after(false), torch::tensor({2.0f - 0.1f, -4.0f + 0.1f}), 1e-6);
}

TEST(Optimizers, LeaveParametersWithoutGradient) {
  for (const char* name : {"adam", "adamw", "radam", "adafactor", "sgd", "adadelta"}) {
    TrainingConfig config;
    config.optimizer = name;
    config.weight_decay = 0.5;
    auto x = start().requires_grad_(true), y = start().requires_grad_(true);
    const auto made = make_optimizer(config, {{"x", x}, {"y", y}});
    x.mutable_grad() = torch::ones({2, 3});
    made->step(0.1);
    EXPECT_FALSE(x.equal(start())) << name;
    EXPECT_TRUE(y.equal(start())) << name;
  }
}

// What a checkpoint holds is all there is to know: every optimizer continues from it in the same bits.
TEST(Optimizers, GoOnFromTheirState) {
  for (const char* name : {"adam", "adamw", "radam", "adafactor", "sgd", "adadelta"}) {
    TrainingConfig config;
    config.optimizer = name;
    config.adam_beta2 = 0.9;  // RAdam: the rectified updates come soon
    const auto update = [](Optimizer& optimizer, torch::Tensor& x, int t) {
      x.mutable_grad() = gradient(t).to(torch::kFloat32).view({2, 3});
      optimizer.step(0.5);
    };
    auto straight = start().requires_grad_(true);
    const auto unbroken = make_optimizer(config, {{"x", straight}});
    for (int t = 1; t <= 6; ++t) update(*unbroken, straight, t);

    auto resumed = straight.detach().clone().requires_grad_(true);
    const auto second = make_optimizer(config, {{"x", resumed}});
    const auto from = unbroken->state(), to = second->state();
    ASSERT_EQ(from.size(), to.size());
    for (size_t i = 0; i < to.size(); ++i) {
      EXPECT_EQ(to[i].first, from[i].first);
      to[i].second.copy_(from[i].second);
    }
    for (int t = 7; t <= 8; ++t) update(*unbroken, straight, t), update(*second, resumed, t);
    EXPECT_TRUE(resumed.equal(straight)) << name;
  }
}

TEST(Optimizers, AreMadeAsConfigured) {
  TrainingConfig config;
  const auto made = [&](const char* name) {
    config.optimizer = name;
    return make_optimizer(config, {{"x", start().requires_grad_(true)}});
  };
  EXPECT_NE(dynamic_cast<Adam*>(made("adam").get()), nullptr);
  EXPECT_NE(dynamic_cast<Adam*>(made("adamw").get()), nullptr);
  EXPECT_NE(dynamic_cast<RAdam*>(made("radam").get()), nullptr);
  EXPECT_NE(dynamic_cast<Adafactor*>(made("adafactor").get()), nullptr);
  EXPECT_NE(dynamic_cast<Sgd*>(made("sgd").get()), nullptr);
  EXPECT_THROW(made("lion"), Error);
}

}  // namespace
}  // namespace nmt::optimizers_test
