#include "nn/layers/average_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/zeros_like.h>

#include <vector>

#include "nn/device/device.h"

namespace nmt {

AverageAttention::AverageAttention(const FeedForwardOptions& options) {
  feed_forward_ = register_module("feed_forward", std::make_shared<DenseFeedForward>(options));
  gate_ = register_module("gate", Linear(2 * options.model, 2 * options.model, LinearImpl::Bias::kYes));
}

torch::Tensor AverageAttention::gate(const torch::Tensor& x, const torch::Tensor& means, ForwardContext& pass) {
  const auto g = feed_forward_->forward(means.to(x.scalar_type()), pass, {});
  const auto gates = activate(gate_(at::cat({x, g}, -1)), Activation::kSigmoid).chunk(2, -1);
  return gates[0] * x + gates[1] * g;
}

torch::Tensor AverageAttention::forward(const torch::Tensor& x, const torch::Tensor& /*lengths*/,
                                        ForwardContext& pass) {
  const auto counts = torch::arange(1, x.size(1) + 1, x.options().dtype(torch::kFloat32)).unsqueeze(-1);  // [time, 1]
  return gate(x, at::cumsum(x, 1, torch::kFloat32) / counts, pass);
}

torch::Tensor AverageAttention::step(const torch::Tensor& x, LayerCache& cache, const RowPositions& positions,
                                     const torch::Tensor& residual) {
  auto& sum = dynamic_cast<RowState&>(cache).value;  // of the positions so far: float32 [rows, 1, model]
  const auto now = x.to(torch::kFloat32);
  std::vector<torch::Tensor> sums;
  for (int64_t token = 0; token < x.size(1); ++token) {
    const auto one = now.narrow(1, token, 1);
    sums.push_back(sum = (sum.defined() ? sum : at::zeros_like(one)) + one);
  }
  ForwardContext no_dropout;
  const auto places = torch::arange(1, x.size(1) + 1, torch::kInt64);
  const auto counts = (positions.tensor(x.size(0)).unsqueeze(1) + places).to(torch::kFloat32).unsqueeze(-1);
  const auto means =
      (sums.size() == 1 ? sum : at::cat(sums, 1)) / copy_to_device(counts, x.device());  // counts [rows, n, 1]
  const auto gated = gate(x, means, no_dropout);
  return residual.defined() ? gated + residual : gated;
}

}  // namespace nmt
