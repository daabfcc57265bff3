#include "training/packed/flat_weights.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <vector>

namespace nmt {
namespace {

// Matrices, those of keys and values of the source, vectors, those of keys and values of the source.
int group_of(const std::string& name, const torch::Tensor& parameter) {
  const bool of_source =
      name.find(".cross_attention.key.") != name.npos || name.find(".cross_attention.value.") != name.npos;
  return (parameter.dim() == 1 ? 2 : 0) + (of_source ? 1 : 0);
}

}  // namespace

FlatWeights::FlatWeights(const NamedTensors& parameters_in, const std::string& output, at::ScalarType type) {
  const c10::NoGradGuard no_grad;
  auto parameters = parameters_in;
  std::ranges::stable_sort(parameters, {}, [](const auto& item) { return group_of(item.first, item.second); });
  int64_t end = 0;
  for (const auto& [name, parameter] : parameters) {
    const bool is_vector = parameter.dim() == 1;
    if (is_vector && first_vector_ == 0) first_vector_ = end;
    places_[name] = end;
    rows_[name] = parameter.size(0);
    const bool fills_up = name == output && !is_vector;
    end += fills_up ? in_sixteens(parameter.size(0)) * parameter.size(1) : in_sixteens(parameter.numel());
  }
  weights_ = torch::zeros({end}, parameters.front().second.options().requires_grad(false));
  gradients_ = zeros();
  copies_ = torch::empty({end}, weights_.options().dtype(type));
  for (auto& [name, parameter] : parameters) {
    const auto part = part_of(weights_, name, parameter.sizes());
    part.copy_(parameter);
    parameter.set_data(part);
    parameter.mutable_grad() = part_of(gradients_, name, parameter.sizes());
  }
  copy_weights();
}

torch::Tensor FlatWeights::part_of(const torch::Tensor& array, const std::string& name, at::IntArrayRef sizes) const {
  int64_t count = 1;
  for (const auto n : sizes) count *= n;
  return array.narrow(0, places_.at(name), count).view(sizes);
}

namespace {

std::vector<int64_t> sizes_of(int64_t rows, int64_t columns) {
  return columns > 0 ? std::vector<int64_t>{rows, columns} : std::vector<int64_t>{rows};
}

}  // namespace

torch::Tensor FlatWeights::copy(const std::string& first, int64_t rows, int64_t columns) const {
  return part_of(copies_, first, sizes_of(rows, columns));
}

torch::Tensor FlatWeights::weight(const std::string& first, int64_t rows, int64_t columns) const {
  return part_of(weights_, first, sizes_of(rows, columns));
}

torch::Tensor FlatWeights::gradient(const std::string& first, int64_t rows, int64_t columns) const {
  return part_of(gradients_, first, sizes_of(rows, columns));
}

void FlatWeights::copy_weights() const { copies_.copy_(weights_); }

}  // namespace nmt
