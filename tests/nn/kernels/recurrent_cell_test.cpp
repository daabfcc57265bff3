#include <functional>

#include "kernel_support.h"

namespace nmt::kernels::test::recurrent_cell_test {
namespace {

constexpr int64_t kRows = 3;
constexpr Cell kCells[] = {Cell::kGru, Cell::kLstm, Cell::kElman};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// One feature: its gates, its state and what becomes of it.
struct Feature {
  Doubles input, recurrent;  // a number a gate
  double state = 0, cell_state = 0;
};
struct Next {
  double state = 0, cell_state = 0;
};

/// The equations of nn/layers/recurrent_cell.h.
Next advance(Cell cell, const Feature& x) {
  const auto sum = [&](int gate) { return x.input[gate] + x.recurrent[gate]; };
  if (cell == Cell::kElman) return {std::tanh(sum(0)), 0};
  if (cell == Cell::kGru) {
    const double reset = sigmoid(sum(0)), update = sigmoid(sum(1));
    return {(1 - update) * std::tanh(x.input[2] + reset * x.recurrent[2]) + update * x.state, 0};
  }
  const double cell_state = sigmoid(sum(1)) * x.cell_state + sigmoid(sum(0)) * std::tanh(sum(2));
  return {sigmoid(sum(3)) * std::tanh(cell_state), cell_state};
}

/// A step of rows, of which the second stays as it is.
template <typename T>
struct Problem {
  Problem(Cell cell, int64_t size)
      : cell(cell),
        size(size),
        input_gates(wave<T>(kRows * gates_of(cell) * size, 1, 2)),
        state_gates(wave<T>(kRows * gates_of(cell) * size, 2)),
        state(wave<float>(kRows * size, 3)),
        cell_state(wave<float>(kRows * size, 4)) {}

  CellStep step() const {
    return {.cell = cell,
            .type = type_of<T>(),
            .size = size,
            .input_gates = input_gates.data(),
            .state_gates = state_gates.data(),
            .active = active,
            .state = state.data(),
            .cell_state = cell == Cell::kLstm ? cell_state.data() : nullptr};
  }
  int64_t gate_place(int64_t row, int64_t gate, int64_t i) const { return (row * gates_of(cell) + gate) * size + i; }
  Feature feature(int64_t row, int64_t i) const {
    Feature x{.input = {}, .recurrent = {}, .state = state[row * size + i], .cell_state = cell_state[row * size + i]};
    for (int64_t gate = 0; gate < gates_of(cell); ++gate) {
      x.input.push_back(widen(input_gates[gate_place(row, gate, i)]));
      x.recurrent.push_back(widen(state_gates[gate_place(row, gate, i)]));
    }
    return x;
  }

  Cell cell;
  int64_t size;
  std::vector<T> input_gates, state_gates;
  std::vector<float> state, cell_state;
  bool active[kRows] = {true, false, true};
};

template <typename Body>
void for_each_problem(Body&& body) {
  for_each_set_and_type([&]<typename T>(const Kernels& set, T) {
    for (const Cell cell : kCells)
      for (const int64_t size : {1, 15, 16, 17, 40}) {
        SCOPED_TRACE(static_cast<int>(cell));
        body(set, Problem<T>(cell, size));
      }
  });
}

TEST(RecurrentCellKernel, EqualsAPlainLoop) {
  for_each_problem([&](const Kernels& set, const auto& problem) {
    const size_t count = kRows * problem.size;
    std::vector<float> next(count), next_cell(problem.cell == Cell::kLstm ? count : 0);
    auto step = problem.step();
    step.next_state = next.data();
    step.next_cell_state = next_cell.data();
    set.recurrent.cell(step, {0, 1});
    set.recurrent.cell(step, {1, kRows});
    Doubles state, cell_state;
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t i = 0; i < problem.size; ++i) {
        const auto x = problem.feature(row, i);
        const auto after = problem.active[row] ? advance(problem.cell, x) : Next{x.state, x.cell_state};
        state.push_back(after.state);
        if (problem.cell == Cell::kLstm) cell_state.push_back(after.cell_state);
      }
    expect_close(next, state, 1e-5);
    expect_close(next_cell, cell_state, 1e-5);
  });
}

TEST(RecurrentCellKernel, HasTheGradientsOfDifferences) {
  for_each_problem([&]<typename T>(const Kernels& set, const Problem<T>& problem) {
    const Cell cell = problem.cell;
    const bool lstm = cell == Cell::kLstm, gru = cell == Cell::kGru;
    const int64_t count = kRows * problem.size;
    const auto of_next = wave<float>(count, 5), of_next_cell = wave<float>(lstm ? count : 0, 6);
    std::vector<T> of_input(problem.input_gates.size()), of_recurrent(gru ? of_input.size() : 0);
    std::vector<float> of_state(count), of_cell(lstm ? count : 0);
    const CellGradients gradients{.next_state = of_next.data(),
                                  .next_cell_state = of_next_cell.data(),
                                  .input_gates = of_input.data(),
                                  .state_gates = gru ? of_recurrent.data() : nullptr,
                                  .state = of_state.data(),
                                  .cell_state = lstm ? of_cell.data() : nullptr};
    set.recurrent.cell_backward(problem.step(), gradients, {0, 2});
    set.recurrent.cell_backward(problem.step(), gradients, {2, kRows});
    Doubles input(of_input.size()), recurrent(of_recurrent.size()), state(count), cell_state(of_cell.size());
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t i = 0; i < problem.size; ++i) {
        const int64_t place = row * problem.size + i;
        if (!problem.active[row]) {
          state[place] = of_next[place];
          if (lstm) cell_state[place] = of_next_cell[place];
          continue;
        }
        auto x = problem.feature(row, i);
        const auto change_by = [&](double& number) {
          constexpr double kStep = 1e-5;
          const auto loss = [&] {
            const auto next = advance(cell, x);
            return next.state * of_next[place] + (lstm ? next.cell_state * of_next_cell[place] : 0);
          };
          number += kStep;
          const double above = loss();
          number -= 2 * kStep;
          const double below = loss();
          number += kStep;
          return (above - below) / (2 * kStep);
        };
        for (int64_t gate = 0; gate < gates_of(cell); ++gate) {
          input[problem.gate_place(row, gate, i)] = change_by(x.input[gate]);
          if (gru) recurrent[problem.gate_place(row, gate, i)] = change_by(x.recurrent[gate]);
        }
        state[place] = change_by(x.state);
        if (lstm) cell_state[place] = change_by(x.cell_state);
      }
    expect_close(of_input, input, 1e-5);
    expect_close(of_recurrent, recurrent, 1e-5);
    expect_close(of_state, state, 1e-5);
    expect_close(of_cell, cell_state, 1e-5);
  });
}

TEST(RecurrentCellKernel, TakesAllRowsAsActive) {
  for_each_set([&](const Kernels& set) {
    Problem<float> problem(Cell::kGru, 5);
    std::vector<float> all(kRows * 5), expected(all.size());
    auto step = problem.step();
    step.active = nullptr;
    step.next_state = all.data();
    set.recurrent.cell(step, {0, kRows});
    std::fill(problem.active, problem.active + kRows, true);
    step = problem.step();
    step.next_state = expected.data();
    set.recurrent.cell(step, {0, kRows});
    EXPECT_EQ(all, expected);
  });
}

}  // namespace
}  // namespace nmt::kernels::test::recurrent_cell_test
