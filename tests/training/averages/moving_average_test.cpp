#include <gtest/gtest.h>

#include "tensor_support.h"
#include "training/loop/averages.h"

namespace nmt::moving_average_test {
namespace {

using test::expect_close;

TEST(MovingAverage, FollowsItsEquation) {
  for (const auto device : test::devices()) {
    auto w = torch::tensor({1.0f, -2.0f}).to(device).requires_grad_(true);
    MovingAverage average({{"w", w}}, 0.5);
    std::vector<double> expected{1, -2};
    for (int t = 1; t <= 12; ++t) {
      {
        const torch::NoGradGuard no_grad;
        w.add_(torch::tensor({0.5f, 1.0f * t}).to(device));
      }
      average.follow(t);
      const double decay = std::min(0.5, (1.0 + t) / (10.0 + t));  // 2/11, 3/12, ..., then 0.5 from t = 8
      for (int i = 0; i < 2; ++i) expected[i] = decay * expected[i] + (1 - decay) * w[i].item<double>();
    }
    EXPECT_EQ(average.state()[0].first, "moving_average.w");
    expect_close(average.state()[0].second.cpu().to(torch::kFloat64), torch::tensor(expected, torch::kFloat64), 1e-5);
  }
}

TEST(MovingAverage, IsPutIntoTheWeightsForAWhile) {
  auto w = torch::tensor({1.0f}).requires_grad_(true);
  MovingAverage average({{"w", w}}, 0.9);
  {
    const torch::NoGradGuard no_grad;
    w.fill_(3);
  }
  {
    const KeptWeights kept({{"w", w}});
    const auto version = w._version();
    average.put_into_weights();
    EXPECT_EQ(w.item<float>(), 1);
    EXPECT_GT(w._version(), version) << "what is packed of the weights must be packed again";
  }
  EXPECT_EQ(w.item<float>(), 3);
  EXPECT_TRUE(w.requires_grad());
}

TEST(MovingAverage, GoesOnFromItsState) {
  auto w = torch::tensor({1.0f}).requires_grad_(true);
  MovingAverage straight({{"w", w}}, 0.9);
  const auto move = [&](int t) {
    const torch::NoGradGuard no_grad;
    w.fill_(t * 0.3);
  };
  for (int t = 1; t <= 3; ++t) move(t), straight.follow(t);
  MovingAverage resumed({{"w", w}}, 0.9);
  resumed.state()[0].second.copy_(straight.state()[0].second);
  for (int t = 4; t <= 6; ++t) move(t), straight.follow(t), resumed.follow(t);
  EXPECT_TRUE(resumed.state()[0].second.equal(straight.state()[0].second));
}

}  // namespace
}  // namespace nmt::moving_average_test
