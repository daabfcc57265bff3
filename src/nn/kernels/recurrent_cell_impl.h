#pragma once

// Part of a kernel set: see kernel_set.cpp.
#include <algorithm>
#include <cstdint>

#include "nn/kernels/kernels.h"
#include "nn/kernels/recurrent_vector_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {
namespace {

// Up to kLanes neighbouring features of one row of a step, from feature `at`.
template <typename T>
struct CellLanes {
  const CellStep& step;
  int64_t row, at, count;

  int64_t place() const { return row * step.size + at; }
  int64_t gate_place(int64_t gate) const { return (row * gates_of(step.cell) + gate) * step.size + at; }
  Vec input(int64_t gate) const {
    return load_lanes(static_cast<const T*>(step.input_gates) + gate_place(gate), count);
  }
  Vec recurrent(int64_t gate) const {
    return load_lanes(static_cast<const T*>(step.state_gates) + gate_place(gate), count);
  }
  Vec sum(int64_t gate) const { return input(gate) + recurrent(gate); }
  Vec load(const float* from) const { return load_lanes(from + place(), count); }
  void store(float* to, Vec x) const { store_lanes(to + place(), x, count); }
  void store_gate(void* to, int64_t gate, Vec x) const {
    store_lanes(static_cast<T*>(to) + gate_place(gate), x, count);
  }
};

template <typename T>
void gru(const CellLanes<T>& x) {
  const Vec reset = vec_sigmoid(x.sum(0)), update = vec_sigmoid(x.sum(1));
  const Vec candidate = vec_tanh(x.input(2) + reset * x.recurrent(2));
  x.store(x.step.next_state, candidate + update * (x.load(x.step.state) - candidate));
}

template <typename T>
void gru_backward(const CellLanes<T>& x, const CellGradients& gradients) {
  const Vec reset = vec_sigmoid(x.sum(0)), update = vec_sigmoid(x.sum(1)), proposed = x.recurrent(2);
  const Vec candidate = vec_tanh(x.input(2) + reset * proposed);
  const Vec of_next = x.load(gradients.next_state), one = all(1.0f);
  const Vec of_candidate = of_next * (one - update) * (one - candidate * candidate);
  const Vec of_update = of_next * (x.load(x.step.state) - candidate) * update * (one - update);
  const Vec of_reset = of_candidate * proposed * reset * (one - reset);
  x.store_gate(gradients.input_gates, 0, of_reset);
  x.store_gate(gradients.input_gates, 1, of_update);
  x.store_gate(gradients.input_gates, 2, of_candidate);
  x.store_gate(gradients.state_gates, 0, of_reset);
  x.store_gate(gradients.state_gates, 1, of_update);
  x.store_gate(gradients.state_gates, 2, of_candidate * reset);
  x.store(gradients.state, of_next * update);
}

template <typename T>
void lstm(const CellLanes<T>& x) {
  const Vec input = vec_sigmoid(x.sum(0)), forget = vec_sigmoid(x.sum(1));
  const Vec candidate = vec_tanh(x.sum(2)), output = vec_sigmoid(x.sum(3));
  const Vec cell_state = forget * x.load(x.step.cell_state) + input * candidate;
  x.store(x.step.next_cell_state, cell_state);
  x.store(x.step.next_state, output * vec_tanh(cell_state));
}

template <typename T>
void lstm_backward(const CellLanes<T>& x, const CellGradients& gradients) {
  const Vec input = vec_sigmoid(x.sum(0)), forget = vec_sigmoid(x.sum(1));
  const Vec candidate = vec_tanh(x.sum(2)), output = vec_sigmoid(x.sum(3));
  const Vec before = x.load(x.step.cell_state), squashed = vec_tanh(forget * before + input * candidate);
  const Vec of_next = x.load(gradients.next_state), one = all(1.0f);
  const Vec of_cell_state = x.load(gradients.next_cell_state) + of_next * output * (one - squashed * squashed);
  x.store_gate(gradients.input_gates, 0, of_cell_state * candidate * input * (one - input));
  x.store_gate(gradients.input_gates, 1, of_cell_state * before * forget * (one - forget));
  x.store_gate(gradients.input_gates, 2, of_cell_state * input * (one - candidate * candidate));
  x.store_gate(gradients.input_gates, 3, of_next * squashed * output * (one - output));
  x.store(gradients.state, Vec{});
  x.store(gradients.cell_state, of_cell_state * forget);
}

template <typename T>
void elman(const CellLanes<T>& x) {
  x.store(x.step.next_state, vec_tanh(x.sum(0)));
}

template <typename T>
void elman_backward(const CellLanes<T>& x, const CellGradients& gradients) {
  const Vec state = vec_tanh(x.sum(0));
  x.store_gate(gradients.input_gates, 0, x.load(gradients.next_state) * (all(1.0f) - state * state));
  x.store(gradients.state, Vec{});
}

// body(lanes) for the features of the active rows, rest(lanes) for those of the others.
template <typename T, typename Body, typename Rest>
void for_lanes(const CellStep& step, Range rows, Body&& body, Rest&& rest) {
  for (int64_t row = rows.begin; row < rows.end; ++row)
    for (int64_t at = 0; at < step.size; at += kLanes) {
      const CellLanes<T> lanes{step, row, at, std::min(kLanes, step.size - at)};
      if (!step.active || step.active[row])
        body(lanes);
      else
        rest(lanes);
    }
}

template <typename T>
void cell_of(const CellStep& step, Range rows) {
  const auto stay = [&](const CellLanes<T>& x) {
    x.store(step.next_state, x.load(step.state));
    if (step.cell_state) x.store(step.next_cell_state, x.load(step.cell_state));
  };
  if (step.cell == Cell::kGru)
    for_lanes<T>(step, rows, gru<T>, stay);
  else if (step.cell == Cell::kLstm)
    for_lanes<T>(step, rows, lstm<T>, stay);
  else
    for_lanes<T>(step, rows, elman<T>, stay);
}

template <typename T>
void cell_backward_of(const CellStep& step, const CellGradients& gradients, Range rows) {
  const auto stay = [&](const CellLanes<T>& x) {
    for (int64_t gate = 0; gate < gates_of(step.cell); ++gate) {
      x.store_gate(gradients.input_gates, gate, Vec{});
      if (gradients.state_gates) x.store_gate(gradients.state_gates, gate, Vec{});
    }
    x.store(gradients.state, x.load(gradients.next_state));
    if (gradients.cell_state) x.store(gradients.cell_state, x.load(gradients.next_cell_state));
  };
  const auto with = [&](auto backward) { return [&, backward](const CellLanes<T>& x) { backward(x, gradients); }; };
  if (step.cell == Cell::kGru)
    for_lanes<T>(step, rows, with(gru_backward<T>), stay);
  else if (step.cell == Cell::kLstm)
    for_lanes<T>(step, rows, with(lstm_backward<T>), stay);
  else
    for_lanes<T>(step, rows, with(elman_backward<T>), stay);
}

void cell(const CellStep& step, Range rows) {
  step.type == Type::kFloat ? cell_of<float>(step, rows) : cell_of<uint16_t>(step, rows);
}

void cell_backward(const CellStep& step, const CellGradients& gradients, Range rows) {
  step.type == Type::kFloat ? cell_backward_of<float>(step, gradients, rows)
                            : cell_backward_of<uint16_t>(step, gradients, rows);
}

}  // namespace
}  // namespace nmt::kernels::NMT_KERNEL_SET
