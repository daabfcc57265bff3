#include "nn/layers/recurrent_cell.h"

#include <ATen/Parallel.h>
#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "nn/device/cpu_kernels.h"

namespace nmt {
namespace {

using kernels::Cell;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

kernels::CellStep step_of(Cell kind, const torch::Tensor& input_gates, const torch::Tensor& state_gates,
                          const torch::Tensor& state, const torch::Tensor& cell_state, const torch::Tensor& active) {
  return {.cell = kind,
          .type = kernel_type(input_gates),
          .size = state.size(1),
          .input_gates = input_gates.const_data_ptr(),
          .state_gates = state_gates.const_data_ptr(),
          .active = active.defined() ? active.const_data_ptr<bool>() : nullptr,
          .state = state.const_data_ptr<float>(),
          .cell_state = cell_state.defined() ? cell_state.const_data_ptr<float>() : nullptr};
}

int64_t grain_of(const kernels::CellStep& step) { return std::max<int64_t>(1, 8192 / step.size); }

/// Returns the next state and, of an LSTM, the next cell_state.
struct CellFunction : torch::autograd::Function<CellFunction> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& input_gates_in,
                               const torch::Tensor& state_gates_in, const torch::Tensor& state_in,
                               const std::optional<torch::Tensor>& cell_state_in,
                               const std::optional<torch::Tensor>& active_in, int64_t kind) {
    const auto input_gates = input_gates_in.contiguous(), state_gates = state_gates_in.contiguous();
    const auto state = state_in.contiguous();
    const auto cell_state = cell_state_in ? cell_state_in->contiguous() : torch::Tensor();
    const auto active = active_in ? active_in->contiguous() : torch::Tensor();
    auto step = step_of(static_cast<Cell>(kind), input_gates, state_gates, state, cell_state, active);
    auto next = torch::empty_like(state);
    auto next_cell_state = cell_state.defined() ? torch::empty_like(cell_state) : torch::Tensor();
    step.next_state = next.mutable_data_ptr<float>();
    if (cell_state.defined()) step.next_cell_state = next_cell_state.mutable_data_ptr<float>();
    at::parallel_for(0, state.size(0), grain_of(step), [&](int64_t begin, int64_t end) {
      kernels::kernels().recurrent.cell(step, {begin, end});
    });
    context->save_for_backward({input_gates, state_gates, state, cell_state, active});
    context->saved_data["kind"] = kind;
    return cell_state.defined() ? variable_list{next, next_cell_state} : variable_list{next};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &input_gates = saved[0], &state_gates = saved[1], &state = saved[2], &cell_state = saved[3];
    const auto kind = static_cast<Cell>(context->saved_data["kind"].toInt());
    const auto step = step_of(kind, input_gates, state_gates, state, cell_state, saved[4]);
    const auto of_next = gradients[0].contiguous();
    const auto of_next_cell_state = cell_state.defined() ? gradients[1].contiguous() : torch::Tensor();
    auto of_input_gates = torch::empty_like(input_gates);
    auto of_state_gates = kind == Cell::kGru ? torch::empty_like(state_gates) : of_input_gates;
    auto of_state = torch::empty_like(state);
    auto of_cell_state = cell_state.defined() ? torch::empty_like(cell_state) : torch::Tensor();
    kernels::CellGradients buffers{.next_state = of_next.const_data_ptr<float>(),
                                   .input_gates = of_input_gates.mutable_data_ptr(),
                                   .state_gates = kind == Cell::kGru ? of_state_gates.mutable_data_ptr() : nullptr,
                                   .state = of_state.mutable_data_ptr<float>()};
    if (cell_state.defined()) {
      buffers.next_cell_state = of_next_cell_state.const_data_ptr<float>();
      buffers.cell_state = of_cell_state.mutable_data_ptr<float>();
    }
    at::parallel_for(0, state.size(0), grain_of(step), [&](int64_t begin, int64_t end) {
      kernels::kernels().recurrent.cell_backward(step, buffers, {begin, end});
    });
    return {of_input_gates, of_state_gates, of_state, of_cell_state, torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

Cell cell_of(CellKind kind) {
  switch (kind) {
    case CellKind::kGru:
      return Cell::kGru;
    case CellKind::kLstm:
      return Cell::kLstm;
    case CellKind::kElman:
      return Cell::kElman;
  }
  return Cell::kGru;
}

CellState cell_step(Cell kind, const torch::Tensor& input_gates, const torch::Tensor& state_gates,
                    const CellState& before, const torch::Tensor& active) {
  if (!has_cpu_kernel(input_gates)) return plain_cell_step(kind, input_gates, state_gates, before, active);
  const auto next = CellFunction::apply(input_gates, state_gates, before.state, optional_tensor(before.cell),
                                        optional_tensor(active), static_cast<int64_t>(kind));
  return {next[0], next.size() > 1 ? next[1] : torch::Tensor()};
}

CellState plain_cell_step(Cell kind, const torch::Tensor& input_gates, const torch::Tensor& state_gates,
                          const CellState& before, const torch::Tensor& active) {
  const auto of_input = input_gates.to(torch::kFloat32).chunk(kernels::gates_of(kind), -1);
  const auto of_state = state_gates.to(torch::kFloat32).chunk(kernels::gates_of(kind), -1);
  const auto sum = [&](int64_t gate) { return of_input[gate] + of_state[gate]; };
  CellState next;
  if (kind == Cell::kGru) {
    const auto reset = sum(0).sigmoid(), update = sum(1).sigmoid();
    const auto candidate = (of_input[2] + reset * of_state[2]).tanh();
    next.state = candidate + update * (before.state - candidate);
  } else if (kind == Cell::kLstm) {
    next.cell = sum(1).sigmoid() * before.cell + sum(0).sigmoid() * sum(2).tanh();
    next.state = sum(3).sigmoid() * next.cell.tanh();
  } else {
    next.state = sum(0).tanh();
  }
  if (!active.defined()) return next;
  const auto moves = active.unsqueeze(1);
  next.state = torch::where(moves, next.state, before.state);
  if (next.cell.defined()) next.cell = torch::where(moves, next.cell, before.cell);
  return next;
}

RecurrentCellImpl::RecurrentCellImpl(Cell kind, int64_t input, int64_t size)
    : kind_(kind),
      size_(size),
      input_(register_module("input", Linear(input, kernels::gates_of(kind) * size, LinearImpl::Bias::kYes))),
      recurrent_(register_module("recurrent", Linear(size, kernels::gates_of(kind) * size, LinearImpl::Bias::kYes))) {}

InitialValues RecurrentCellImpl::initial_values_below(const torch::nn::Module& submodule,
                                                      const InitialValues& values) const {
  auto own = &submodule == recurrent_.get() ? values.with_matrices(values.recurrent) : values;
  const auto by_size = [&](InitialDistribution& distribution) {
    if (distribution.kind != InitialDistribution::Kind::kFanIn) return;
    distribution.kind = InitialDistribution::Kind::kUniform;
    distribution.limit = 1 / std::sqrt(static_cast<double>(size_));
  };
  by_size(own.matrices);
  if (own.biases) by_size(*own.biases);
  return own;
}

CellState RecurrentCellImpl::zero_state(int64_t rows, torch::Device device) const {
  const auto zeros = torch::zeros({rows, size_}, torch::TensorOptions(torch::kFloat32).device(device));
  return {zeros, kind_ == Cell::kLstm ? zeros : torch::Tensor()};
}

CellState RecurrentCellImpl::advance(const torch::Tensor& projected, const CellState& before,
                                     const torch::Tensor& active) {
  return cell_step(kind_, projected, recurrent_(before.state.to(projected.scalar_type())), before, active);
}

namespace {

/// Arguments and gradients of the products of one layer, gathered on the way back.
struct Gathered : torch::CustomClassHolder {
  std::vector<torch::Tensor> inputs, gradients;  // [rows, in], [rows, out] of each step
};
using GatheredPtr = c10::intrusive_ptr<Gathered>;

GatheredPtr gathered_of(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<Gathered>(context->saved_data["gathered"].toCapsule());
}

/// The weight in the type of the products. Its gradient arrives through `gathered`, not through autograd: this node
/// runs after all steps, which depend on it.
struct SharedWeight : torch::autograd::Function<SharedWeight> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& weight,
                               const std::optional<torch::Tensor>& bias, at::ScalarType type,
                               const GatheredPtr& gathered) {
    context->set_materialize_grads(false);
    context->saved_data["gathered"] = c10::IValue::make_capsule(gathered);
    context->saved_data["bias"] = bias.has_value();
    return weight.detach().to(type);
  }
  static variable_list backward(AutogradContext* context, variable_list) {
    const auto gathered = gathered_of(context);
    if (gathered->inputs.empty()) return {{}, {}, {}, {}};
    const auto inputs = torch::cat(gathered->inputs), gradients = torch::cat(gathered->gradients);
    gathered->inputs.clear();
    gathered->gradients.clear();
    const auto of_weight = gradients.t().mm(inputs).to(torch::kFloat32);
    if (!context->saved_data["bias"].toBool()) return {of_weight, {}, {}, {}};
    return {of_weight, gradients.sum(0, /*keepdim=*/false, torch::kFloat32), {}, {}};
  }
};

struct StepMultiply : torch::autograd::Function<StepMultiply> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, const torch::Tensor& weight,
                               const std::optional<torch::Tensor>& bias, const GatheredPtr& gathered) {
    context->save_for_backward({x, weight});
    context->saved_data["gathered"] = c10::IValue::make_capsule(gathered);
    return at::linear(x, weight, bias);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto gradient = gradients[0].flatten(0, -2);
    const auto gathered = gathered_of(context);
    gathered->inputs.push_back(saved[0].flatten(0, -2));
    gathered->gradients.push_back(gradient);
    return {gradient.mm(saved[1]).view(saved[0].sizes()), torch::Tensor(), torch::Tensor(), torch::Tensor()};
  }
};

/// One layer while StepwiseGradients lives.
class GatheringProduct final : public LinearImpl::Product {
 public:
  GatheringProduct(const LinearImpl& layer, at::ScalarType type)
      : weight_(SharedWeight::apply(layer.weight, bias_of(layer), type, gathered_)) {
    if (layer.bias.defined()) bias_ = layer.bias.detach().to(type);
  }
  torch::Tensor multiply(const torch::Tensor& x) override { return StepMultiply::apply(x, weight_, bias_, gathered_); }

 private:
  static std::optional<torch::Tensor> bias_of(const LinearImpl& layer) {
    return layer.bias.defined() ? std::optional(layer.bias) : std::nullopt;
  }

  GatheredPtr gathered_ = c10::make_intrusive<Gathered>();
  torch::Tensor weight_;
  std::optional<torch::Tensor> bias_;
};

}  // namespace

StepwiseGradients::StepwiseGradients(torch::nn::Module& module, at::ScalarType type) {
  if (!torch::GradMode::is_enabled()) return;
  for (const auto& part : module.modules())
    if (auto layer = std::dynamic_pointer_cast<LinearImpl>(part)) {
      layer->replace_product(std::make_unique<GatheringProduct>(*layer, type));
      layers_.push_back(std::move(layer));
    }
}

StepwiseGradients::~StepwiseGradients() {
  for (const auto& layer : layers_) layer->replace_product(nullptr);
}

}  // namespace nmt
