#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor_support.h"
#include "training/optimizers/optimizer.h"

namespace nmt::adam_test {
namespace {

using test::expect_close;
using test::wave;

torch::Tensor parameter(at::IntArrayRef sizes, double start, torch::Device device) {
  return wave(sizes, 1, start).to(device).requires_grad_(true);
}

// Kingma and Ba 2015, algorithm 1, element by element in double; decay as Loshchilov and Hutter 2019, algorithm 2.
TEST(Adam, FollowsThePaper) {
  const Adam::Options options{.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.1};
  for (const auto device : test::devices()) {
    auto x = parameter({2, 3}, 0, device);
    Adam adam({{"x", x}}, options);
    std::vector<double> value(6), first(6), second(6);
    for (int i = 0; i < 6; ++i) value[i] = x.flatten()[i].item<double>();
    for (int t = 1; t <= 5; ++t) {
      const double rate = 0.1 / t;
      const auto gradient = wave({2, 3}, t == 3 ? 0 : 2, t);  // one update without any slope
      x.mutable_grad() = gradient.to(device);
      adam.step(rate);
      for (int i = 0; i < 6; ++i) {
        const double g = gradient.flatten()[i].item<double>();
        first[i] = options.beta1 * first[i] + (1 - options.beta1) * g;
        second[i] = options.beta2 * second[i] + (1 - options.beta2) * g * g;
        const double m = first[i] / (1 - std::pow(options.beta1, t)), v = second[i] / (1 - std::pow(options.beta2, t));
        value[i] -= rate * (m / (std::sqrt(v) + options.epsilon) + options.weight_decay.rate * value[i]);
      }
      expect_close(x.detach().cpu().to(torch::kFloat64), torch::tensor(value, torch::kFloat64).view({2, 3}), 2e-6,
                   device.str() + ", update " + std::to_string(t));
    }
  }
}

// The first step has the size of the learning rate whatever the gradient's: 0.5 - 0.1, -2 + 0.1.
TEST(Adam, FirstMovesByTheLearningRate) {
  auto x = torch::tensor({0.5f, -2.0f}).requires_grad_(true);
  Adam adam({{"x", x}}, {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8});
  x.mutable_grad() = torch::tensor({300.0f, -0.02f});
  adam.step(0.1);
  expect_close(x.detach(), torch::tensor({0.4f, -1.9f}), 1e-6);
}

TEST(Adam, LeavesParametersWithoutGradient) {
  auto x = parameter({3}, 0, torch::kCPU), y = parameter({3}, 1, torch::kCPU);
  const auto before = y.detach().clone();
  Adam adam({{"x", x}, {"y", y}}, {.weight_decay = 0.5});
  adam.step(0.1);  // nobody has one
  EXPECT_TRUE(x.equal(parameter({3}, 0, torch::kCPU)));
  x.mutable_grad() = torch::ones({3});
  adam.step(0.1);
  EXPECT_FALSE(x.equal(parameter({3}, 0, torch::kCPU)));
  EXPECT_TRUE(y.equal(before));
  // Its counter waited: its first step is a first step.
  y.mutable_grad() = torch::ones({3});
  Adam fresh({{"y", y.detach().clone().requires_grad_(true)}}, {.weight_decay = 0.5});
  adam.step(0.1);
  EXPECT_EQ(adam.state().back().first, "steps.y");
  EXPECT_EQ(adam.state().back().second.item<float>(), 1);
  expect_close(y.detach(), before - 0.1 - 0.1 * 0.5 * before, 1e-6);
}

TEST(Adam, ClipsToTheJointNorm) {
  for (const auto device : test::devices()) {
    auto x = parameter({2}, 0, device), y = parameter({1}, 0, device), without = parameter({1}, 0, device);
    Adam adam({{"x", x}, {"y", y}, {"without", without}}, {});
    EXPECT_EQ(adam.clip_gradients(1).item<float>(), 0) << "no gradients yet";
    const auto set = [&] {
      x.mutable_grad() = torch::tensor({2.0f, 3.0f}).to(device);
      y.mutable_grad() = torch::tensor({6.0f}).to(device);
    };
    set();
    EXPECT_NEAR(adam.clip_gradients(3.5).item<float>(), 7, 1e-6);  // sqrt(4 + 9 + 36)
    expect_close(x.grad().cpu(), torch::tensor({1.0f, 1.5f}), 1e-6);
    expect_close(y.grad().cpu(), torch::tensor({3.0f}), 1e-6);
    for (const double limit : {0.0, 7.5}) {  // off; not reached
      set();
      EXPECT_NEAR(adam.clip_gradients(limit).item<float>(), 7, 1e-6);
      EXPECT_TRUE(x.grad().cpu().equal(torch::tensor({2.0f, 3.0f}))) << limit;
    }
    adam.clear_gradients();
    EXPECT_FALSE(x.grad().defined());
  }
}

// The device decides, without being asked: weights, moments and counters of an update that is left out stay.
TEST(Adam, LeavesAnUpdateOut) {
  for (const auto device : test::devices()) {
    for (const bool decoupled : {true, false}) {
      auto x = parameter({4}, 0, device), expected = parameter({4}, 0, device);
      const Adam::Options options{.weight_decay = {0.1, decoupled}};
      Adam adam({{"x", x}}, options), other({{"x", expected}}, options);
      const auto skip = [&](float value) { return torch::full({}, value, x.options().requires_grad(false)); };
      for (const int t : {1, 2, 3}) {
        x.mutable_grad() = wave({4}, 1, t).to(device);
        if (t == 2) {
          x.mutable_grad().fill_(std::numeric_limits<float>::quiet_NaN());
          adam.step_unless(skip(1), 0.1);
          continue;
        }
        adam.step_unless(skip(0), 0.1);
        expected.mutable_grad() = wave({4}, 1, t).to(device);
        other.step(0.1);
      }
      EXPECT_TRUE(x.equal(expected));
      for (size_t i = 0; i < adam.state().size(); ++i)
        EXPECT_TRUE(adam.state()[i].second.equal(other.state()[i].second)) << adam.state()[i].first;
    }
  }
}

TEST(Adam, GoesOnFromItsState) {
  const auto gradient = [](int t) { return wave({4}, 1, t); };
  auto straight = parameter({4}, 0, torch::kCPU);
  Adam unbroken({{"x", straight}}, {});
  for (int t = 1; t <= 2; ++t) straight.mutable_grad() = gradient(t), unbroken.step(0.01);

  auto resumed = straight.detach().clone().requires_grad_(true);
  Adam second({{"x", resumed}}, {});
  std::vector<std::string> names;
  for (size_t i = 0; i < second.state().size(); ++i) {
    names.push_back(second.state()[i].first);
    second.state()[i].second.copy_(unbroken.state()[i].second);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"first_moment.x", "second_moment.x", "steps.x"}));
  for (int t = 3; t <= 5; ++t) {
    straight.mutable_grad() = gradient(t), unbroken.step(0.01);
    resumed.mutable_grad() = gradient(t), second.step(0.01);
  }
  EXPECT_TRUE(resumed.equal(straight));
}

}  // namespace
}  // namespace nmt::adam_test
