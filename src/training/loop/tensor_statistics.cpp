#include "training/loop/tensor_statistics.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/histc.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace nmt {
namespace {

constexpr int64_t kBuckets = 30;

// [tensors] 2-norms, float64 on the CPU: one wait for the device.
std::vector<double> norms(const std::vector<torch::Tensor>& tensors) {
  if (tensors.empty()) return {};
  const auto values = at::stack(at::_foreach_norm(tensors)).to(torch::kCPU, torch::kFloat64);
  const double* first = values.const_data_ptr<double>();
  return {first, first + values.numel()};
}

std::optional<TensorHistogram> histogram(const std::string& name, const torch::Tensor& tensor) {
  const auto values = tensor.detach().to(torch::kFloat32);
  const double norm = at::linalg_vector_norm(values).item<double>();  // quicker than a sum of squares
  TensorHistogram histogram{.name = name,
                            .min = values.min().item<double>(),
                            .max = values.max().item<double>(),
                            .sum = values.sum().item<double>(),
                            .sum_of_squares = norm * norm};
  if (!std::isfinite(histogram.min) || !std::isfinite(histogram.max)) return std::nullopt;
  if (histogram.min == histogram.max) {
    histogram.limits = {histogram.max};
    histogram.counts = {static_cast<double>(values.numel())};
    return histogram;
  }
  const auto counts =
      at::histc(values, kBuckets, histogram.min, histogram.max).to(torch::kCPU, torch::kFloat64).contiguous();
  const double* first = counts.const_data_ptr<double>();
  histogram.counts.assign(first, first + kBuckets);
  const double width = (histogram.max - histogram.min) / kBuckets;
  for (int64_t i = 1; i <= kBuckets; ++i)
    histogram.limits.push_back(i < kBuckets ? histogram.min + width * static_cast<double>(i) : histogram.max);
  return histogram;
}

}  // namespace

std::vector<GroupNorm> group_norms(const NamedTensors& parameters) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> weights, gradients;
  for (const auto& [name, parameter] : parameters) {
    weights.push_back(parameter.detach());
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  const auto of_weights = norms(weights), of_gradients = norms(gradients);
  std::vector<GroupNorm> groups;  // squares at first
  for (size_t i = 0, with_gradient = 0; i < parameters.size(); ++i) {
    const auto& [name, parameter] = parameters[i];
    const auto group = name.substr(0, name.find('.'));
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.group == group; });
    if (found == groups.end()) found = groups.insert(groups.end(), {.group = group});
    found->weights += of_weights[i] * of_weights[i];
    if (!parameter.grad().defined()) continue;
    found->gradients += of_gradients[with_gradient] * of_gradients[with_gradient];
    ++with_gradient;
  }
  for (auto& group : groups) group.weights = std::sqrt(group.weights), group.gradients = std::sqrt(group.gradients);
  return groups;
}

std::vector<TensorHistogram> tensor_histograms(const NamedTensors& parameters) {
  const torch::NoGradGuard no_grad;
  std::vector<TensorHistogram> histograms;
  const auto add = [&](const std::string& name, const torch::Tensor& tensor) {
    if (!tensor.defined() || tensor.numel() == 0) return;
    if (auto of_tensor = histogram(name, tensor)) histograms.push_back(std::move(*of_tensor));
  };
  for (const auto& [name, parameter] : parameters) {
    add("weights/" + name, parameter);
    add("gradients/" + name, parameter.grad());
  }
  return histograms;
}

}  // namespace nmt
