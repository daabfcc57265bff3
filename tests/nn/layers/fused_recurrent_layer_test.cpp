// A recurrent layer by LibTorch's own function (cuDNN's on CUDA) is the loop of our cells.
#include <gtest/gtest.h>

#include "nn/device/device.h"
#include "nn/layers/recurrent_layer.h"
#include "tensor_support.h"

namespace nmt::fused_recurrent_layer_test {
namespace {

using kernels::Cell;
using test::expect_close;
using test::wave;

constexpr Cell kCells[] = {Cell::kGru, Cell::kLstm, Cell::kElman};
constexpr int64_t kTime = 7, kInput = 6, kSize = 9;

struct Case {
  Cell kind = Cell::kGru;
  bool bidirectional = true;
  std::vector<int64_t> lengths = {4, 7, 1, 7, 2};
  at::ScalarType type = torch::kFloat32;
};

RecurrentLayer layer_of(const Case& one) {
  RecurrentLayer layer(one.kind, kInput, kSize, one.bidirectional);
  const torch::NoGradGuard no_grad;
  double start = 0.3;
  for (auto& item : layer->named_parameters()) item.value().copy_(wave(item.value().sizes(), 0.4, start += 0.9));
  return layer;
}

/// Results by name: states of real words, last states, gradients of the input and of all weights.
std::vector<std::pair<std::string, torch::Tensor>> results(const Case& one, torch::Device device, bool fused) {
  auto layer = layer_of(one);
  move_module(*layer, device);
  layer->set_fused(fused);
  const auto batch = static_cast<int64_t>(one.lengths.size());
  const auto lengths = torch::tensor(at::ArrayRef<int64_t>(one.lengths), torch::kInt64);
  const auto real = (torch::arange(kTime).unsqueeze(1) < lengths).unsqueeze(2).to(device);
  auto x = wave({kTime, batch, kInput}, 1, 0.3).to(device).requires_grad_();
  const auto output = layer(x.to(one.type), lengths);
  EXPECT_EQ(output.states.scalar_type(), one.type);
  const auto states = output.states.to(torch::kFloat32).masked_fill(real.logical_not(), 0);
  auto loss = (states * wave(states.sizes(), 1, 0.8).to(device)).sum();
  std::vector<std::pair<std::string, torch::Tensor>> found = {{"states", states.detach().cpu()}};
  for (const auto& last : output.last)
    for (const auto& [name, of_last] : {std::pair("last state", last.state), {"last cell", last.cell}}) {
      if (!of_last.defined()) continue;
      EXPECT_EQ(of_last.scalar_type(), torch::kFloat32);
      loss = loss + (of_last * wave(of_last.sizes(), 1, 1.7).to(device)).sum();
      found.emplace_back(name, of_last.detach().cpu());
    }
  loss.backward();
  found.emplace_back("gradient of x", x.grad().cpu());
  for (const auto& item : layer->named_parameters())
    found.emplace_back("gradient of " + item.key(), item.value().grad().cpu());
  return found;
}

void expect_the_loop_of_cells(const Case& one, torch::Device device, double tolerance) {
  const auto expected = results(one, torch::kCPU, false), found = results(one, device, true);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const double size = std::max(1.0, expected[i].second.abs().max().item<double>());
    expect_close(found[i].second, expected[i].second, tolerance * size, device.str() + ": " + expected[i].first);
  }
}

TEST(FusedRecurrentLayer, IsTheLoopOfCells) {
  for (const auto device : test::devices())
    for (const auto kind : kCells)
      for (const bool bidirectional : {false, true}) {
        SCOPED_TRACE(static_cast<int>(kind));
        expect_the_loop_of_cells({.kind = kind, .bidirectional = bidirectional}, device, 1e-5);
      }
}

// 8 bits: LibTorch's function rounds the state after each step, our cells keep it in float32.
TEST(FusedRecurrentLayer, IsNearItInBfloat16) {
  for (const auto device : test::devices())
    for (const auto kind : kCells) {
      SCOPED_TRACE(static_cast<int>(kind));
      expect_the_loop_of_cells({.kind = kind, .type = torch::kBFloat16}, device, 0.05);
    }
}

TEST(FusedRecurrentLayer, TakesLengthsOfAllKinds) {
  const std::vector<std::vector<int64_t>> all = {{7}, {1}, {7, 7, 7}, {1, 1}, {2, 5, 7, 5, 2}, {0, 3, 0, 7}};
  for (const auto kind : kCells)
    for (const auto& lengths : all) {
      SCOPED_TRACE(testing::PrintToString(lengths));
      expect_the_loop_of_cells({.kind = kind, .lengths = lengths}, torch::kCPU, 1e-5);
    }
}

TEST(FusedRecurrentLayer, LeavesSentencesWithoutWordsAtTheFirstState) {
  auto layer = layer_of({});
  layer->set_fused(true);
  const auto output = layer(wave({kTime, 2, kInput}, 1, 0.3), torch::zeros({2}, torch::kInt64));
  EXPECT_TRUE(output.states.equal(torch::zeros({kTime, 2, 2 * kSize})));
  ASSERT_EQ(output.last.size(), 2U);
  EXPECT_TRUE(output.last[0].state.equal(torch::zeros({2, kSize})));
}

// The CPU continues by its own cells: no bit of it changed. What a device without cuDNN or its like takes are cells,
// too.
TEST(RecurrentLayer, TakesTheWayOfItsDevice) {
  const auto lengths = torch::tensor({int64_t{2}, int64_t{7}}, torch::kInt64);
  const auto x = wave({kTime, 2, kInput}, 1, 0.3);
  const auto states = [&](std::optional<bool> fused) {
    auto layer = layer_of({});
    if (fused) layer->set_fused(*fused);
    return layer(x, lengths).states.detach();
  };
  EXPECT_TRUE(states(std::nullopt).equal(states(false)));
  const auto beyond = [](const torch::Tensor& of) { return of.narrow(0, 2, 5).select(1, 0).abs().sum().item<float>(); };
  EXPECT_GT(beyond(states(false)), 0) << "cells hold the last state";
  EXPECT_EQ(beyond(states(true)), 0) << "cuDNN's states end with the sentence";
}

}  // namespace
}  // namespace nmt::fused_recurrent_layer_test
