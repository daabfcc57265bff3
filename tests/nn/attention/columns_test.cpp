#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>

#include "nn/attention/attention.h"
#include "tensor_support.h"

namespace nmt::columns_test {
namespace {

using test::expect_close;
using test::wave;

const std::vector<int64_t> kSizes = {4, 2, 3};

TEST(Columns, AreViewsOfTheWhole) {
  const auto x = wave({2, 5, 9});
  const auto parts = split_columns(x, kSizes);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_TRUE(parts[1].is_alias_of(x));
  EXPECT_TRUE(torch::equal(torch::cat(parts, -1), x));
}

TEST(Columns, HaveTheGradientOfTheWhole) {
  const auto x = wave({2, 5, 9}).requires_grad_();
  const auto parts = split_columns(x, kSizes);
  (parts[0].sum() + 2 * parts[2].sum()).backward();  // the second part takes no part
  expect_close(x.grad(), torch::cat({torch::ones({2, 5, 4}), torch::zeros({2, 5, 2}), torch::full({2, 5, 3}, 2.0)}, -1),
               0);
  const auto unused = wave({3, 9}).requires_grad_();
  split_columns(unused, kSizes)[1].sum().backward();
  expect_close(unused.grad().sum(), torch::tensor(6.0), 0);
}

/// Hands on gradients that lie side by side.
struct Neighbours : torch::autograd::Function<Neighbours> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& a,
                               const torch::Tensor& b, const torch::Tensor& c) {
    context->save_for_backward({a, b, c});
    return a.sum() + b.sum() + c.sum();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list) {
    auto gradients = new_columns(context->get_saved_variables());
    for (size_t i = 0; i < gradients.size(); ++i) gradients[i].fill_(static_cast<double>(i + 1));
    made = gradients.front();
    return gradients;
  }
  static inline torch::Tensor made;
};

TEST(Columns, TakeAGradientThatLiesThereAsItIs) {
  const auto x = wave({2, 5, 9}).requires_grad_();
  torch::Tensor seen;
  const auto y = x * 1;
  y.register_hook([&](const torch::Tensor& gradient) { seen = gradient; });
  const auto parts = split_columns(y, kSizes);
  Neighbours::apply(parts[0], parts[1], parts[2]).backward();
  EXPECT_TRUE(seen.is_alias_of(Neighbours::made)) << "not copied";
  EXPECT_TRUE(seen.is_contiguous());
  expect_close(x.grad(),
               torch::cat({torch::full({2, 5, 4}, 1.0), torch::full({2, 5, 2}, 2.0), torch::full({2, 5, 3}, 3.0)}, -1),
               0);
  Neighbours::made.reset();
}

TEST(Columns, AreNewSideBySideOnlyWhereTheOldOnesAre) {
  const auto x = wave({2, 5, 9});
  const auto parts = x.split_with_sizes(kSizes, -1);
  const auto beside = new_columns(parts);
  EXPECT_TRUE(beside[0].is_alias_of(beside[2]));
  EXPECT_EQ(beside[1].sizes(), parts[1].sizes());
  EXPECT_FALSE(beside[0].is_alias_of(parts[0]));
  for (const auto& apart : {new_columns({parts[0], parts[2]}), new_columns({parts[0], parts[1]}),
                            new_columns({wave({2, 3}), wave({2, 3})}), new_columns({parts[1], parts[0], parts[2]})}) {
    EXPECT_FALSE(apart[0].is_alias_of(apart[1]));
    EXPECT_TRUE(apart[0].is_contiguous());
  }
  EXPECT_TRUE(new_columns({parts[0]})[0].is_contiguous());
}

}  // namespace
}  // namespace nmt::columns_test
