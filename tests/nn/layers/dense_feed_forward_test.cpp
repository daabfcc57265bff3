#include <gtest/gtest.h>

#include "nn/device/device.h"
#include "nn/layers/feed_forward.h"
#include "tensor_support.h"

namespace nmt::dense_feed_forward_test {
namespace {

using test::expect_close;
using test::wave;

// Weights by formula, another start each.
std::shared_ptr<FeedForward> net_of(bool gated, Activation activation, double dropout = 0) {
  auto net = std::make_shared<DenseFeedForward>(
      FeedForwardOptions{.model = 6, .inner = 10, .activation = activation, .gated = gated, .dropout = dropout});
  const torch::NoGradGuard no_grad;
  double start = 0;
  for (auto& parameter : net->parameters()) parameter.copy_(wave(parameter.sizes(), 0.6, ++start));
  return net;
}

TEST(DenseFeedForward, GatedMultipliesTwoProjections) {
  const auto x = wave({2, 3, 6}, 1, 4);
  for (const auto device : test::devices())
    for (const auto activation : {Activation::kSwish, Activation::kGelu}) {
      auto net = net_of(true, activation);
      const auto w = net->named_parameters();
      const auto inner = x.matmul(w["inner.weight"].t()) + w["inner.bias"];
      const auto other = x.matmul(w["gated.weight"].t()) + w["gated.bias"];
      const auto expected =
          ((activate(inner, activation) * other).matmul(w["outer.weight"].t()) + w["outer.bias"]).detach();
      move_module(*net, device);
      ForwardContext no_dropout;
      expect_close(net->forward(x.to(device), no_dropout, {}).cpu(), expected, 1e-5, device.str());
      const auto low = net->forward(x.to(device, torch::kBFloat16), no_dropout, {});
      EXPECT_EQ(low.scalar_type(), torch::kBFloat16);
      expect_close(low.cpu(), expected, 0.1, device.str());
    }
}

TEST(DenseFeedForward, HasTheGradientOfItsFormula) {
  const auto mix = wave({4, 6}, 1, 3);
  for (const bool gated : {false, true}) {
    auto net = net_of(gated, Activation::kSwish, 0.3);
    test::expect_gradient(
        [&](const torch::Tensor& x) {
          ForwardContext pass(1, 2, 0);
          return (net->forward(x, pass, {}) * mix).sum();
        },
        wave({4, 6}, 1, 1), 1e-2, 3e-3);
  }
}

TEST(DenseFeedForward, GivesARowTheSameBitsAloneAndInABatch) {
  const torch::NoGradGuard no_grad;
  const auto x = wave({13, 6}, 1, 4);
  for (const bool gated : {false, true})
    for (const auto activation : {Activation::kRelu, Activation::kGelu, Activation::kSwish}) {
      auto net = net_of(gated, activation);
      ForwardContext no_dropout;
      const auto together = net->forward(x, no_dropout, {});
      for (int64_t row = 0; row < 13; ++row)
        EXPECT_TRUE(net->forward(x.narrow(0, row, 1), no_dropout, {}).equal(together.narrow(0, row, 1))) << row;
    }
}

}  // namespace
}  // namespace nmt::dense_feed_forward_test
