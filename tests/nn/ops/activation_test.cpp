#include "nn/ops/activation.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::activation_test {
namespace {

constexpr Activation kAll[] = {Activation::kNone,     Activation::kRelu,  Activation::kGelu,
                               Activation::kGeluTanh, Activation::kSwish, Activation::kSigmoid};

double exact(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kGelu:
      return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::kGeluTanh:
      return x * 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kSwish:
      return x / (1 + std::exp(-x));
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
  }
  return 0;
}

TEST(Activate, FollowsItsFormulas) {
  for (const auto device : test::devices())
    for (const auto activation : kAll) {
      const auto x = test::wave({3, 7}, 4);
      auto expected = x.to(torch::kFloat64);
      for (int64_t i = 0; i < x.numel(); ++i)
        expected.view(-1)[i] = exact(activation, expected.view(-1)[i].item<double>());
      test::expect_close(activate(x.to(device), activation).cpu(), expected, 1e-6, "training");
      const torch::NoGradGuard no_grad;
      test::expect_close(activate(x.to(device), activation).cpu(), expected, 1e-6, "decoding");
    }
}

TEST(Activate, WhileDecodingGivesAnElementTheSameBitsAnywhere) {
  const torch::NoGradGuard no_grad;
  const auto x = test::wave({1037}, 4);
  for (const auto activation : kAll) {
    const auto together = activate(x, activation);
    for (int64_t i = 0; i < x.numel(); ++i)
      ASSERT_TRUE(activate(x.narrow(0, i, 1), activation).equal(together.narrow(0, i, 1))) << "element " << i;
  }
}

TEST(ActivationOf, KnowsTheGatedOnesByTheirGate) {
  EXPECT_EQ(activation_of(FeedForwardActivation::kSwiglu), Activation::kSwish);
  EXPECT_EQ(activation_of(FeedForwardActivation::kGeglu), Activation::kGelu);
  EXPECT_EQ(activation_of(FeedForwardActivation::kGegluTanh), Activation::kGeluTanh);
  EXPECT_EQ(activation_of(FeedForwardActivation::kGeluTanh), Activation::kGeluTanh);
  EXPECT_TRUE(is_gated(FeedForwardActivation::kGegluTanh));
  EXPECT_FALSE(is_gated(FeedForwardActivation::kGeluTanh));
  EXPECT_TRUE(is_gated(FeedForwardActivation::kSwiglu));
  EXPECT_TRUE(is_gated(FeedForwardActivation::kGeglu));
  EXPECT_FALSE(is_gated(FeedForwardActivation::kSwish));
}

}  // namespace
}  // namespace nmt::activation_test
