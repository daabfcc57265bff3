#include "training/distributed/state_shares.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <map>

#include "tensor_support.h"
#include "training/distributed/thread_processes.h"
#include "training/loop/averages.h"
#include "training/optimizers/optimizer.h"

namespace nmt::state_shares_test {
namespace {

using test::ThreadProcesses;

/// Matrices and vectors of several sizes, all but one of which have gradients that depend on the update.
struct Net {
  Net() {
    double scale = 1;
    for (const auto& [name, sizes] : std::map<std::string, std::vector<int64_t>>{{"embedding", {50, 16}},
                                                                                 {"a.weight", {16, 24}},
                                                                                 {"a.bias", {24}},
                                                                                 {"b.weight", {24, 16}},
                                                                                 {"b.bias", {16}},
                                                                                 {"unused", {7}}})
      parameters.emplace_back(name, (test::wave(sizes) * (scale *= 0.8)).requires_grad_(true));
  }
  void set_gradients(int64_t update) {
    for (auto& [name, parameter] : parameters)
      if (name != "unused") parameter.mutable_grad() = (parameter.detach() * static_cast<double>(update % 3 + 1)).sin();
  }
  NamedTensors parameters;
};

struct Outcome {
  NamedTensors weights, state;
};

NamedTensors copied(const NamedTensors& tensors) {
  NamedTensors copies;
  for (const auto& [name, tensor] : tensors) copies.emplace_back(name, tensor.detach().clone());
  return copies;
}

void expect_same(const NamedTensors& found, const NamedTensors& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found[i].first, expected[i].first);
    EXPECT_TRUE(found[i].second.equal(expected[i].second)) << expected[i].first;
  }
}

TrainingConfig config_of(OptimizerKind kind) {
  TrainingConfig config;
  config.optimizer = kind;
  config.weight_decay = 0.01;
  return config;
}

/// Five updates, the third of which is left out.
void train(Optimizer& optimizer, Net& net, MovingAverage& average, int64_t first = 1) {
  for (int64_t update = first; update < first + 5; ++update) {
    net.set_gradients(update);
    optimizer.clip_gradients(1);
    optimizer.step_unless(torch::tensor(update == 3 ? 1.0f : 0.0f), 0.01);
    average.follow(update);
  }
}

constexpr OptimizerKind kKinds[] = {OptimizerKind::kAdam,      OptimizerKind::kAdamW, OptimizerKind::kRadam,
                                    OptimizerKind::kAdafactor, OptimizerKind::kSgd,   OptimizerKind::kAdadelta};

Outcome alone(const TrainingConfig& config) {
  Net net;
  const auto optimizer = make_optimizer(config, net.parameters);
  MovingAverage average(net.parameters, 0.9);
  train(*optimizer, net, average);
  auto state = optimizer->state();
  for (const auto& item : average.state()) state.push_back(item);
  return {copied(net.parameters), copied(state)};
}

class StateSharesTest : public ::testing::Test {
 protected:
  void SetUp() override { at::set_num_threads(1); }
  void TearDown() override { at::set_num_threads(threads_); }
  const int threads_ = at::get_num_threads();
};

TEST_F(StateSharesTest, TheLargestGoesToWhoHasLeast) {
  EXPECT_EQ(owners_of({1, 9, 4, 5, 1}, 2), (std::vector<int64_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(owners_of({3, 3, 3}, 3), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(owners_of({7}, 4), (std::vector<int64_t>{0}));
}

TEST_F(StateSharesTest, EveryOptimizerChangesWeightsAsTheWholeOne) {
  for (const auto kind : kKinds)
    for (const int64_t size : {2, 3, 8}) {  // more than parameters, too
      SCOPED_TRACE(Choice<OptimizerKind>(kind).name() + " " + std::to_string(size));
      const auto config = config_of(kind);
      const auto expected = alone(config);
      std::vector<Outcome> found(size);
      std::vector<int64_t> bytes(size);
      ThreadProcesses processes(size);
      processes.run([&](ProcessGroup& group) {
        Net net;
        const StateShares shares(net.parameters, group);
        ShardedOptimizer optimizer(net.parameters, shares,
                                   [&](NamedTensors some) { return make_optimizer(config, std::move(some)); });
        MovingAverage average(net.parameters, 0.9, &shares);
        const auto version = net.parameters[0].second._version();
        train(optimizer, net, average);
        EXPECT_GT(net.parameters[0].second._version(), version) << "what is packed of weights must be packed again";
        auto state = optimizer.state();
        for (const auto& item : average.state()) state.push_back(item);
        for (const auto& item : state)
          if (!item.second.is_meta()) bytes[group.rank()] += static_cast<int64_t>(item.second.nbytes());
        found[group.rank()] = {copied(net.parameters), shares.gathered(state)};
        average.gather();
        if (!group.leads()) return;
        average.put_into_weights();
        EXPECT_TRUE(net.parameters[0].second.equal(expected.state[expected.state.size() - 6].second));
      });
      int64_t whole = 0;
      for (const auto& item : expected.state) whole += static_cast<int64_t>(item.second.nbytes());
      for (int64_t rank = 0; rank < size; ++rank) {
        expect_same(found[rank].weights, expected.weights);
        EXPECT_LT(bytes[rank], whole * 2 / 3) << "a share";
      }
      expect_same(found[0].state, expected.state);
      EXPECT_TRUE(found[1].state.empty());
    }
}

// Begun alone, resumed by two; begun by three, resumed alone.
TEST_F(StateSharesTest, GoesOnFromTheStateOfAnotherNumberOfProcesses) {
  const auto config = config_of(OptimizerKind::kAdam);
  const auto make = [&](NamedTensors some) { return make_optimizer(config, std::move(some)); };
  const auto begun = alone(config);
  Net straight;
  const auto optimizer = make(straight.parameters);
  MovingAverage average(straight.parameters, 0.9);
  train(*optimizer, straight, average);
  train(*optimizer, straight, average, 6);
  SafetensorsFile file;
  for (const auto& [name, tensor] : begun.state)
    if (!name.starts_with("moving_average.")) file.tensors[name] = tensor;
  ThreadProcesses processes(2);
  processes.run([&](ProcessGroup& group) {
    Net net;
    for (size_t i = 0; i < net.parameters.size(); ++i) net.parameters[i].second.detach().copy_(begun.weights[i].second);
    const StateShares shares(net.parameters, group);
    ShardedOptimizer sharded(net.parameters, shares, make);
    copy_into(sharded.state(), file, "test");
    MovingAverage own(net.parameters, 0.9, &shares);
    train(sharded, net, own, 6);
    expect_same(copied(net.parameters), copied(straight.parameters));
  });
}

}  // namespace
}  // namespace nmt::state_shares_test
