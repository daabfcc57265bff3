#include "nn/layers/ssru.h"

#include <ATen/ops/addcmul.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/relu.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

#include "nn/ops/activation.h"

namespace nmt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// One operation of elements a step and direction: a graph of single steps would cost several and keep all of them.
struct GatedRecurrence : torch::autograd::Function<GatedRecurrence> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& f, const torch::Tensor& z) {
    auto c = (1 - f) * z;  // [batch, time, model]
    for (int64_t t = 1; t < c.size(1); ++t) c.select(1, t).addcmul_(f.select(1, t), c.select(1, t - 1));
    context->save_for_backward({f, z, c});
    return c;
  }

  // With g_t the whole gradient of c_t, through later steps too: g_t = of_c_t + f_{t+1} g_{t+1}.
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &f = saved[0], &z = saved[1], &c = saved[2];
    auto g = gradients[0].clone();
    for (int64_t t = g.size(1) - 2; t >= 0; --t) g.select(1, t).addcmul_(f.select(1, t + 1), g.select(1, t + 1));
    auto of_f = -g * z;
    if (g.size(1) > 1) {
      const int64_t later = g.size(1) - 1;
      of_f.narrow(1, 1, later).addcmul_(g.narrow(1, 1, later), c.narrow(1, 0, later));
    }
    return {of_f, g * (1 - f)};
  }
};

}  // namespace

torch::Tensor gated_recurrence(const torch::Tensor& f, const torch::Tensor& z) { return GatedRecurrence::apply(f, z); }

Ssru::Ssru(int64_t model) {
  forget_ = register_module("forget", Linear(model, model, LinearImpl::Bias::kYes));
  input_ = register_module("input", Linear(model, model, LinearImpl::Bias::kNo));
}

torch::Tensor Ssru::forward(const torch::Tensor& x, const torch::Tensor& /*lengths*/, ForwardContext& /*pass*/) {
  const auto f = activate(forget_(x).to(torch::kFloat32), Activation::kSigmoid);
  return at::relu(gated_recurrence(f, input_(x).to(torch::kFloat32))).to(x.scalar_type());
}

torch::Tensor Ssru::step(const torch::Tensor& x, LayerCache& cache, const RowPositions& /*positions*/,
                         const torch::Tensor& residual) {
  auto& c = dynamic_cast<RowState&>(cache).value;  // of the last position [rows, 1, model]
  const auto f = activate(forget_(x).to(torch::kFloat32), Activation::kSigmoid);  // [rows, n, model]
  const auto fresh = (1 - f) * input_(x).to(torch::kFloat32);
  std::vector<torch::Tensor> states;
  for (int64_t token = 0; token < x.size(1); ++token) {
    const auto part = [&](const torch::Tensor& y) { return y.narrow(1, token, 1); };
    states.push_back(c = c.defined() ? part(fresh) + part(f) * c : part(fresh));
  }
  const auto y = at::relu(states.size() == 1 ? c : at::cat(states, 1)).to(x.scalar_type());
  return residual.defined() ? y + residual : y;
}

}  // namespace nmt
