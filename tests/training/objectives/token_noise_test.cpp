#include <gtest/gtest.h>

#include "tensor_support.h"
#include "training/loop/objectives.h"

namespace nmt::token_noise_test {
namespace {

ForwardContext training_pass(int64_t update = 1) { return ForwardContext(3, update, 0); }

TEST(DropTokens, LeavesWhatIsNoPiece) {
  const auto ids = torch::tensor({2L, 7L, 1L, 3L, 0L, 0L}).view({1, 6});
  for (const auto device : test::devices()) {
    auto pass = training_pass();
    const auto all = drop_tokens(ids.to(device), 1, SpecialIds::kUnknown, pass).cpu();
    EXPECT_TRUE(all.equal(torch::tensor({2L, 1L, 1L, 3L, 0L, 0L}).view({1, 6})));
    const auto cut = drop_tokens(ids.to(device), 1, SpecialIds::kPad, pass).cpu();
    EXPECT_TRUE(cut.equal(torch::tensor({2L, 0L, 0L, 3L, 0L, 0L}).view({1, 6})));
  }
}

TEST(DropTokens, DropsTheShareItIsTold) {
  const auto ids = torch::full({100, 200}, 9L);
  auto pass = training_pass();
  const auto dropped = (drop_tokens(ids, 0.15, SpecialIds::kUnknown, pass) == SpecialIds::kUnknown).to(torch::kFloat64);
  EXPECT_NEAR(dropped.mean().item<double>(), 0.15, 0.01);  // four deviations
  const double both = (dropped.narrow(1, 0, 199) * dropped.narrow(1, 1, 199)).mean().item<double>();
  EXPECT_NEAR(both, 0.15 * 0.15, 0.005) << "each for itself";
  EXPECT_TRUE(ids.equal(torch::full({100, 200}, 9L))) << "what is given stays";
}

TEST(DropTokens, IsAFunctionOfThePass) {
  const auto ids = torch::full({10, 20}, 9L);
  auto first = training_pass(), again = training_pass(), other = training_pass(2), none = ForwardContext();
  const auto dropped = drop_tokens(ids, 0.5, 1, first);
  EXPECT_TRUE(drop_tokens(ids, 0.5, 1, again).equal(dropped));
  EXPECT_FALSE(drop_tokens(ids, 0.5, 1, other).equal(dropped));
  EXPECT_FALSE(drop_tokens(ids, 0.5, 1, first).equal(dropped)) << "another place, another mask";
  EXPECT_TRUE(drop_tokens(ids, 0.5, 1, none).equal(ids)) << "outside training";
}

// A rate of 0 takes no key: runs without word dropout keep their random numbers.
TEST(DropTokens, OfNothingTakesNoKey) {
  auto with = training_pass(), without = training_pass();
  drop_tokens(torch::full({2, 2}, 9L), 0, 1, with);
  EXPECT_EQ(with.next_key(), without.next_key());
}

}  // namespace
}  // namespace nmt::token_noise_test
