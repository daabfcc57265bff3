#include "nn/layers/average_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/cumsum.h>

namespace nmt {

AverageAttention::AverageAttention(const FeedForwardImpl::Options& options) {
  feed_forward_ = register_module("feed_forward", FeedForward(options));
  gate_ = register_module("gate", Linear(2 * options.model, 2 * options.model, LinearImpl::Bias::kYes));
}

torch::Tensor AverageAttention::gate(const torch::Tensor& x, const torch::Tensor& means, ForwardContext& pass) {
  const auto g = feed_forward_(means.to(x.scalar_type()), pass);
  const auto gates = activate(gate_(at::cat({x, g}, -1)), Activation::kSigmoid).chunk(2, -1);
  return gates[0] * x + gates[1] * g;
}

torch::Tensor AverageAttention::forward(const torch::Tensor& x, const torch::Tensor& /*lengths*/,
                                        ForwardContext& pass) {
  const auto counts = torch::arange(1, x.size(1) + 1, x.options().dtype(torch::kFloat32)).unsqueeze(-1);  // [time, 1]
  return gate(x, at::cumsum(x, 1, torch::kFloat32) / counts, pass);
}

torch::Tensor AverageAttention::step(const torch::Tensor& x, MixerState& state, const RowPositions& positions,
                                     const torch::Tensor& residual) {
  const auto now = x.to(torch::kFloat32);
  if (state.tensors.empty()) state.tensors = {torch::zeros_like(now)};
  state.tensors[0] = state.tensors[0] + now;
  ForwardContext no_dropout;
  const auto counts = (positions.tensor(x.size(0)) + 1).to(torch::kFloat32).unsqueeze(-1).to(x.device());  // [rows, 1]
  const auto gated = gate(x, state.tensors[0] / counts, no_dropout);
  return residual.defined() ? gated + residual : gated;
}

}  // namespace nmt
