#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <array>

#include "nn/layers/feed_forward.h"
#include "nn/ops/forward_context.h"
#include "nn/ops/linear.h"
#include "nn/training_sets.h"
#include "tensor_support.h"

namespace nmt::feed_forward_product_test {
namespace {

using test::wave;

torch::Tensor leaf(const torch::Tensor& x) { return x.detach().clone().requires_grad_(true); }

// Enough rows for several ranges of a thread, and a last one that is shorter.
TEST(FeedForwardProduct, HasTheBitsOfItsPartsOneByOne) {
  const auto before = at::get_num_threads();
  test::with_each_training_set([](torch::ScalarType type) {
    for (const int threads : {1, 2}) {
      at::set_num_threads(threads);
      const std::array<torch::Tensor, 5> values = {(wave({7, 61, 24}, 1, 2) / 4).to(type), wave({66, 24}, 1, 3),
                                                   wave({66}, 1, 4), wave({24, 66}, 1, 5), wave({24}, 1, 6)};
      ASSERT_TRUE(has_training_kernel(leaf(values[0]), values[1]));
      std::array<torch::Tensor, 5> one, other;
      for (size_t i = 0; i < values.size(); ++i) one[i] = leaf(values[i]), other[i] = leaf(values[i]);
      ForwardContext pass(3, 4, 0), same_pass(3, 4, 0);
      const auto y = multiply_feed_forward(one[0], {one[1], one[2]}, {one[3], one[4]}, 0.3, pass.next_key());
      const auto expected =
          linear(relu_dropout(linear(other[0], other[1], other[2]), 0.3, same_pass), other[3], other[4]);
      EXPECT_TRUE(y.equal(expected));
      const auto of_y = wave({7, 61, 24}, 1, 7).to(type);
      y.backward(of_y);
      expected.backward(of_y);
      for (size_t i = 0; i < one.size(); ++i) {
        EXPECT_TRUE(one[i].grad().equal(other[i].grad())) << "argument " << i;
        EXPECT_GT(one[i].grad().abs().max().item<double>(), 0);
      }
    }
  });
  at::set_num_threads(before);
}

TEST(FeedForwardProduct, TakesXWithoutAGradient) {
  test::with_each_training_set([](torch::ScalarType type) {
    const auto x = wave({5, 24}).to(type), inner = leaf(wave({66, 24})), outer = leaf(wave({24, 66}));
    const auto y = multiply_feed_forward(x, {inner, leaf(wave({66}))}, {outer, leaf(wave({24}))}, 0.1, 1);
    y.sum().backward();
    EXPECT_TRUE(inner.grad().defined());
    EXPECT_FALSE(x.grad().defined());
  });
}

}  // namespace
}  // namespace nmt::feed_forward_product_test
