#include "nn/layers/gradient_checkpointing.h"

#include <gtest/gtest.h>

#include "nn/device/cpu_allocator.h"
#include "nn/ops/forward_context.h"
#include "nn/ops/linear.h"
#include "tensor_support.h"

namespace nmt::checkpoint_test {
namespace {

/// tanh, dropout and a product, one after the other; weights and a tensor that enters beside x.
struct Net {
  torch::Tensor first = test::wave({24, 16}).requires_grad_(true),
                second = (test::wave({16, 24}) * 2).requires_grad_(true);
  torch::Tensor x = test::wave({40, 16}).requires_grad_(true), memory = test::wave({40, 24}).requires_grad_(true);

  std::vector<torch::Tensor> part(const std::vector<torch::Tensor>& inputs, ForwardContext& pass) const {
    memory_wants_gradient.push_back(inputs[1].requires_grad());
    const auto hidden = dropout(linear(inputs[0], first, torch::Tensor()).tanh(), 0.3, pass) * inputs[1];
    return {add_dropped(inputs[0], linear(hidden, second, torch::Tensor()), 0.2, pass), hidden.sum()};
  }
  /// Three times the same weights, two passes added up; with checkpoints or without. The gradients of all.
  std::vector<torch::Tensor> gradients(bool checkpoints, bool uses_sum = true) {
    for (auto* leaf : {&first, &second, &x, &memory}) leaf->mutable_grad().reset();
    for (int64_t micro_batch = 0; micro_batch < 2; ++micro_batch) {
      ForwardContext pass(3, 7, micro_batch);
      auto y = x;
      auto sums = torch::zeros({});
      const PartOfModel body = [this](const auto& inputs, auto& own_pass) { return part(inputs, own_pass); };
      for (int i = 0; i < 3; ++i) {
        const auto outputs =
            checkpoints ? checkpointed(body, {y, memory}, {first, second}, pass) : body({y, memory}, pass);
        y = outputs[0];
        if (uses_sum) sums = sums + outputs[1];
      }
      keys = pass.next_key();
      loss = y.square().sum() + sums;
      loss.backward();
    }
    return {first.grad(), second.grad(), x.grad(), memory.grad()};
  }
  torch::Tensor loss;
  uint64_t keys = 0;
  mutable std::vector<bool> memory_wants_gradient;  // of each run
};

TEST(Checkpoint, GivesTheSameBits) {
  for (const bool uses_sum : {true, false}) {
    Net plain, kept;
    const auto expected = plain.gradients(false, uses_sum), found = kept.gradients(true, uses_sum);
    EXPECT_TRUE(kept.loss.equal(plain.loss));
    EXPECT_EQ(kept.keys, plain.keys) << "what comes after draws the same numbers";
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(found[i].equal(expected[i])) << i;
  }
}

TEST(Checkpoint, LeavesOutWhatWantsNoGradient) {
  Net plain, kept;
  for (auto* net : {&plain, &kept}) {
    net->first.set_requires_grad(false);
    net->memory.set_requires_grad(false);
  }
  const auto expected = plain.gradients(false), found = kept.gradients(true);
  EXPECT_FALSE(found[0].defined());
  EXPECT_TRUE(found[1].equal(expected[1]));
  EXPECT_TRUE(found[2].equal(expected[2]));
  EXPECT_FALSE(found[3].defined());
  EXPECT_EQ(kept.memory_wants_gradient, std::vector<bool>(12, false)) << "nor is it computed: 2 passes, 3 steps, twice";
}

TEST(Checkpoint, RunsOnceInEvaluationAndWithoutGradients) {
  Net net;
  std::vector<bool> with_gradients;  // of each run
  const PartOfModel body = [&](const auto& inputs, auto& pass) {
    with_gradients.push_back(torch::GradMode::is_enabled());
    return net.part(inputs, pass);
  };
  ForwardContext evaluation;
  checkpointed(body, {net.x, net.memory}, {}, evaluation)[0].sum().backward();
  EXPECT_TRUE(net.x.grad().defined());
  const torch::NoGradGuard no_grad;
  ForwardContext pass(1, 1, 0);
  EXPECT_FALSE(checkpointed(body, {net.x, net.memory}, {}, pass)[0].requires_grad());
  EXPECT_EQ(with_gradients, (std::vector{true, false}));
}

// 20 steps, one of which is computed again at a time; in tensors of x's size.
TEST(Checkpoint, KeepsTheInputsAlone) {
  reuse_freed_tensors();
  const auto most = [](bool checkpoints) {
    const auto x = torch::ones({256, 256}).requires_grad_(true);
    const PartOfModel body = [](const auto& inputs, auto&) -> std::vector<torch::Tensor> {
      return {((inputs[0].tanh() * 2).tanh().exp() * 0.1).tanh()};  // four results that are kept
    };
    ForwardContext pass(1, 1, 0);
    measure_tensors_anew();
    const int64_t before = most_tensor_bytes_in_use();
    auto y = x;
    for (int i = 0; i < 20; ++i) y = checkpoints ? checkpointed(body, {y}, {}, pass)[0] : body({y}, pass)[0];
    y.sum().backward();
    return static_cast<double>(most_tensor_bytes_in_use() - before) / (1 << 18);
  };
  EXPECT_GT(most(false), 75);
  EXPECT_LT(most(true), 32);
}

}  // namespace
}  // namespace nmt::checkpoint_test
