#include "nn/layers/recurrent_cell.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "nn/device/device.h"
#include "nn/kernels/kernels.h"
#include "nn/layers/recurrent_layer.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::recurrent_cell_test {
namespace {

using kernels::Cell;
using test::expect_close;
using test::wave;

constexpr Cell kCells[] = {Cell::kGru, Cell::kLstm, Cell::kElman};
constexpr int64_t kRows = 5, kSize = 35;  // two vectors and three features

void set_by_formula(torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  double start = 0.3;
  for (auto& item : module.named_parameters()) item.value().copy_(wave(item.value().sizes(), 0.4, start += 0.9));
}

// Results and gradients of one step: next state, next cell_state, and the gradients of all arguments.
using Step = CellState (*)(Cell, const torch::Tensor&, const torch::Tensor&, const CellState&, const torch::Tensor&);
std::vector<torch::Tensor> run(Step step, Cell cell, at::ScalarType type, bool masked) {
  const int64_t gates = kernels::gates_of(cell);
  auto input = wave({kRows, gates * kSize}, 2, 0.1).to(type).requires_grad_(true);
  auto recurrent = wave({kRows, gates * kSize}, 2, 1.4).to(type).requires_grad_(true);
  CellState before{wave({kRows, kSize}, 1, 0.6).requires_grad_(true), torch::Tensor()};
  if (cell == Cell::kLstm) before.cell = wave({kRows, kSize}, 1, 2.6).requires_grad_(true);
  const auto active = masked ? torch::tensor({true, false, true, true, false}) : torch::Tensor();
  const auto next = step(cell, input, recurrent, before, active);
  auto loss = (next.state * wave({kRows, kSize}, 1, 0.2)).sum();
  if (next.cell.defined()) loss = loss + (next.cell * wave({kRows, kSize}, 1, 1.2)).sum();
  loss.backward();
  std::vector<torch::Tensor> results{next.state.detach(), input.grad(), recurrent.grad(), before.state.grad()};
  if (next.cell.defined()) results.insert(results.end(), {next.cell.detach(), before.cell.grad()});
  return results;
}

// bfloat16: gates of size 2 in 8 bits; the step itself is computed in float.
TEST(RecurrentCell, FusedStepIsThePlainOne) {
  for (const auto cell : kCells)
    for (const auto type : {torch::kFloat32, torch::kBFloat16})
      for (const bool masked : {false, true}) {
        const auto fused = run(cell_step, cell, type, masked), plain = run(plain_cell_step, cell, type, masked);
        ASSERT_EQ(fused.size(), plain.size());
        for (size_t i = 0; i < fused.size(); ++i) {
          if (!plain[i].defined()) continue;  // Elman and LSTM: no gradient past the gates
          EXPECT_EQ(fused[i].scalar_type(), plain[i].scalar_type());
          expect_close(fused[i], plain[i], type == torch::kFloat32 ? 2e-6 : 8e-3, "result " + std::to_string(i));
        }
      }
}

TEST(RecurrentCell, EveryInstructionSetGivesTheSame) {
  for (const auto cell : kCells) {
    const auto input = wave({kRows, kernels::gates_of(cell) * kSize}, 2, 0.1);
    const auto state = wave({kRows, kSize}, 1, 0.6), cell_state = wave({kRows, kSize}, 1, 2.6);
    const auto expected =
        cell_step(cell, input, input, {state, cell == Cell::kLstm ? cell_state : torch::Tensor()}, {});
    for (const char* name : {"avx512", "avx2", "baseline"}) {
      const auto* set = kernels::kernels_by_name(name);
      if (!set) continue;
      auto next = torch::empty_like(state), next_cell_state = torch::empty_like(state);
      set->recurrent.cell({.cell = cell,
                           .size = kSize,
                           .input_gates = input.data_ptr(),
                           .state_gates = input.data_ptr(),
                           .state = state.data_ptr<float>(),
                           .cell_state = cell == Cell::kLstm ? cell_state.data_ptr<float>() : nullptr,
                           .next_state = next.data_ptr<float>(),
                           .next_cell_state = next_cell_state.data_ptr<float>()},
                          {0, kRows});
      expect_close(next, expected.state, 1e-6, name);
    }
  }
}

// The gates of torch's cells stand in the same order, its biases in the same places.
TEST(RecurrentCell, IsTorchsCell) {
  constexpr int64_t kInput = 7;
  const auto x = wave({kRows, kInput}, 1, 0.4), h = wave({kRows, kSize}, 1, 0.6), c = wave({kRows, kSize}, 1, 2.6);
  for (const auto kind : kCells) {
    RecurrentCell cell(kind, kInput, kSize);
    set_by_formula(*cell);
    const auto p = cell->named_parameters();
    const auto &w = p["input.weight"], &b = p["input.bias"], &u = p["recurrent.weight"], &d = p["recurrent.bias"];
    const auto next = cell(x, CellState{h, kind == Cell::kLstm ? c : torch::Tensor()});
    if (kind == Cell::kLstm) {
      const auto expected = at::lstm_cell(x, {h, c}, w, u, b, d);
      expect_close(next.state, std::get<0>(expected), 1e-5);
      expect_close(next.cell, std::get<1>(expected), 1e-5);
    } else {
      expect_close(next.state,
                   kind == Cell::kGru ? at::gru_cell(x, h, w, u, b, d) : at::rnn_tanh_cell(x, h, w, u, b, d), 1e-5);
    }
  }
}

TEST(RecurrentLayer, ReadsAPaddedSentenceAsAlone) {
  for (const auto device : test::devices())
    for (const auto kind : kCells) {
      RecurrentLayer layer(kind, 6, 19, /*bidirectional=*/true);
      set_by_formula(*layer);
      move_module(*layer, device);
      const auto x = wave({7, 3, 6}, 1, 0.3).to(device);
      const std::vector<int64_t> lengths{4, 7, 1};
      const auto together = layer(x, torch::tensor(at::ArrayRef<int64_t>(lengths), torch::kInt64));
      for (int64_t b = 0; b < 3; ++b) {
        const auto alone =
            layer(x.narrow(0, 0, lengths[b]).narrow(1, b, 1), torch::tensor({lengths[b]}, torch::kInt64));
        expect_close(together.states.narrow(0, 0, lengths[b]).narrow(1, b, 1), alone.states, 1e-6);
        for (int64_t direction : {0, 1})
          expect_close(together.last[direction].state[b], alone.last[direction].state[0], 1e-6);
        // Ends are ends of the reading: after the last word, after the first one.
        const int64_t last = lengths[b] - 1;
        expect_close(together.last[0].state[b], together.states[last][b].narrow(0, 0, 19), 0);
        expect_close(together.last[1].state[b], together.states[0][b].narrow(0, 19, 19), 0);
      }
    }
}

TEST(RecurrentLayer, HasItsGradients) {
  for (const auto kind : kCells) {
    RecurrentLayer layer(kind, 3, 4, /*bidirectional=*/true);
    set_by_formula(*layer);
    const auto lengths = torch::tensor({int64_t{2}, int64_t{4}}, torch::kInt64);
    const auto loss = [&](const torch::Tensor& x) {
      const StepwiseGradients stepwise(*layer, torch::kFloat32);
      const auto output = layer(x, lengths);
      return (output.states * wave({4, 2, 8}, 1, 0.8)).sum() + output.last[0].state.sum();
    };
    test::expect_gradient(loss, wave({4, 2, 3}, 1, 0.3), 1e-2, 2e-3);
  }
}

TEST(StepwiseGradients, AreThoseOfThePlainLayers) {
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    std::vector<std::vector<torch::Tensor>> gradients;
    for (const bool stepwise : {true, false}) {
      RecurrentLayer layer(Cell::kGru, 6, 19, /*bidirectional=*/true);
      set_by_formula(*layer);
      const auto lengths = torch::tensor({int64_t{5}, int64_t{3}}, torch::kInt64);
      auto x = wave({5, 2, 6}, 1, 0.3).requires_grad_(true);
      {
        std::optional<StepwiseGradients> guard;
        if (stepwise) guard.emplace(*layer, type);
        const auto sum = layer(x.to(type), lengths).states.to(torch::kFloat32).square().sum();
        guard.reset();  // before the way back, as in a model
        sum.backward();
      }
      gradients.push_back({x.grad()});
      for (const auto& parameter : layer->parameters()) gradients.back().push_back(parameter.grad());
    }
    for (size_t i = 0; i < gradients[0].size(); ++i) {
      const double size = gradients[1][i].abs().max().item<double>();
      expect_close(gradients[0][i], gradients[1][i], size * (type == torch::kFloat32 ? 1e-5 : 0.03),
                   "gradient " + std::to_string(i));
    }
  }
}

}  // namespace
}  // namespace nmt::recurrent_cell_test
