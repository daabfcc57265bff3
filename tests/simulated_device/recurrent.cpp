// The steps of recurrent layers that LibTorch asks an accelerator for (at::gru and at::lstm call them where there is no
// cuDNN), in plain operations of the CPU.
#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <functional>

#include "simulated_device/streams.h"
#include "simulated_device/tensors.h"

namespace nmt::simulated {
namespace {

using Tensors = std::vector<at::Tensor>;
using OptionalTensor = std::optional<at::Tensor>;

at::Tensor or_undefined(const OptionalTensor& x) { return x ? *x : at::Tensor(); }

/// Launches body(inputs, outputs) on tensors of the CPU over the same numbers; undefined ones stay so.
void run(const std::string& name, const Tensors& inputs, const Tensors& outputs,
         const std::function<void(const Tensors&, const Tensors&)>& body) {
  Work work{.name = name, .reads = {}, .writes = {}, .run = {}};
  Tensors given, made;
  for (const auto& x : inputs) {
    TORCH_CHECK(!x.defined() || is_ours(x), "Expected all tensors to be on the same device, but ", name, " got one of ",
                x.device());
    given.push_back(x.defined() ? alias_of(x) : at::Tensor());
    if (x.defined()) work.reads.push_back(block_of(x.storage()));
  }
  for (const auto& x : outputs) {
    made.push_back(x.defined() ? alias_of(x) : at::Tensor());
    if (x.defined()) work.writes.push_back(block_of(x.storage()));
  }
  work.run = [given, made, body] {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const at::AutoDispatchBelowADInplaceOrView below;
    body(given, made);
  };
  launch(std::move(work));
}

/// W x + b of all gates, float32, one tensor a gate.
Tensors gates_of(const at::Tensor& products, const at::Tensor& bias, int64_t count) {
  auto sums = products.to(at::kFloat);
  if (bias.defined()) sums = sums + bias.to(at::kFloat);
  return sums.chunk(count, 1);
}

void put_biases(const at::Tensor& gates, const at::Tensor& bias) {
  if (bias.defined()) bias.copy_(gates.sum(0));
}

at::Tensor of_sigmoid(const at::Tensor& y) { return y * (1 - y); }
at::Tensor of_tanh(const at::Tensor& y) { return 1 - y * y; }

/// Kept for the way back: r, z, n, U_n h + d_n, h, side by side, float32.
std::tuple<at::Tensor, at::Tensor> gru_step(const at::Tensor& input_gates, const at::Tensor& state_gates,
                                            const at::Tensor& state, const OptionalTensor& input_bias,
                                            const OptionalTensor& state_bias) {
  const auto next = empty(state.sizes(), state.scalar_type());
  const auto kept = empty({state.size(0), 5 * state.size(1)}, at::kFloat);
  run("aten::_thnn_fused_gru_cell",
      {input_gates, state_gates, state, or_undefined(input_bias), or_undefined(state_bias)}, {next, kept},
      [](const Tensors& given, const Tensors& made) {
        const auto a = gates_of(given[0], given[3], 3), g = gates_of(given[1], given[4], 3);
        const auto before = given[2].to(at::kFloat);
        const auto r = (a[0] + g[0]).sigmoid(), z = (a[1] + g[1]).sigmoid(), n = (a[2] + r * g[2]).tanh();
        made[0].copy_((1 - z) * n + z * before);
        made[1].copy_(at::cat({r, z, n, g[2], before}, 1));
      });
  return {next, kept};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> gru_step_backward(const at::Tensor& gradient,
                                                                                         const at::Tensor& kept,
                                                                                         bool has_bias) {
  const int64_t rows = gradient.size(0), size = gradient.size(1);
  const auto type = gradient.scalar_type();
  const auto gates = [&] { return empty({rows, 3 * size}, type); };
  const auto bias = [&] { return has_bias ? empty({3 * size}, type) : at::Tensor(); };
  const Tensors outputs = {gates(), gates(), empty({rows, size}, type), bias(), bias()};
  run("aten::_thnn_fused_gru_cell_backward", {gradient, kept}, outputs, [](const Tensors& given, const Tensors& made) {
    const auto of_next = given[0].to(at::kFloat);
    const auto parts = given[1].chunk(5, 1);
    const auto &r = parts[0], &z = parts[1], &n = parts[2], &g = parts[3], &before = parts[4];
    const auto of_n = of_next * (1 - z) * of_tanh(n), of_z = of_next * (before - n) * of_sigmoid(z);
    const auto of_r = of_n * g * of_sigmoid(r);
    const auto of_inputs = at::cat({of_r, of_z, of_n}, 1), of_states = at::cat({of_r, of_z, of_n * r}, 1);
    made[0].copy_(of_inputs);
    made[1].copy_(of_states);
    made[2].copy_(of_next * z);
    put_biases(of_inputs, made[3]);
    put_biases(of_states, made[4]);
  });
  return {outputs[0], outputs[1], outputs[2], outputs[3], outputs[4]};
}

/// Kept for the way back: i, f, m, o, side by side, float32.
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_step(const at::Tensor& input_gates, const at::Tensor& state_gates,
                                                         const at::Tensor& cell, const OptionalTensor& input_bias,
                                                         const OptionalTensor& state_bias) {
  const auto next = empty(cell.sizes(), cell.scalar_type()), next_cell = empty(cell.sizes(), cell.scalar_type());
  const auto kept = empty({cell.size(0), 4 * cell.size(1)}, at::kFloat);
  run("aten::_thnn_fused_lstm_cell",
      {input_gates, state_gates, cell, or_undefined(input_bias), or_undefined(state_bias)}, {next, next_cell, kept},
      [](const Tensors& given, const Tensors& made) {
        const auto a = gates_of(given[0], given[3], 4), g = gates_of(given[1], given[4], 4);
        const auto i = (a[0] + g[0]).sigmoid(), f = (a[1] + g[1]).sigmoid(), m = (a[2] + g[2]).tanh(),
                   o = (a[3] + g[3]).sigmoid();
        const auto after = f * given[2].to(at::kFloat) + i * m;
        made[0].copy_(o * after.tanh());
        made[1].copy_(after);
        made[2].copy_(at::cat({i, f, m, o}, 1));
      });
  return {next, next_cell, kept};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_step_backward(const OptionalTensor& of_next,
                                                                  const OptionalTensor& of_next_cell,
                                                                  const at::Tensor& cell, const at::Tensor& next_cell,
                                                                  const at::Tensor& kept, bool has_bias) {
  const int64_t rows = cell.size(0), size = cell.size(1);
  const auto type = cell.scalar_type();
  const Tensors outputs = {empty({rows, 4 * size}, type), empty({rows, size}, type),
                           has_bias ? empty({4 * size}, type) : at::Tensor()};
  run("aten::_thnn_fused_lstm_cell_backward",
      {or_undefined(of_next), or_undefined(of_next_cell), cell, next_cell, kept}, outputs,
      [](const Tensors& given, const Tensors& made) {
        const auto before = given[2].to(at::kFloat), squashed = given[3].to(at::kFloat).tanh();
        const auto float_or_zeros = [&](const at::Tensor& x) {
          return x.defined() ? x.to(at::kFloat) : at::zeros_like(before);
        };
        const auto of_state = float_or_zeros(given[0]);
        const auto parts = given[4].chunk(4, 1);
        const auto &i = parts[0], &f = parts[1], &m = parts[2], &o = parts[3];
        const auto of_cell = float_or_zeros(given[1]) + of_state * o * of_tanh(squashed);
        const auto of_gates = at::cat({of_cell * m * of_sigmoid(i), of_cell * before * of_sigmoid(f),
                                       of_cell * i * of_tanh(m), of_state * squashed * of_sigmoid(o)},
                                      1);
        made[0].copy_(of_gates);
        made[1].copy_(of_cell * f);
        put_biases(of_gates, made[2]);
      });
  return {outputs[0], outputs[1], outputs[2]};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("_thnn_fused_gru_cell", &gru_step);
  library.impl("_thnn_fused_gru_cell_backward", &gru_step_backward);
  library.impl("_thnn_fused_lstm_cell", &lstm_step);
  library.impl("_thnn_fused_lstm_cell_backward_impl", &lstm_step_backward);
}

}  // namespace
}  // namespace nmt::simulated
