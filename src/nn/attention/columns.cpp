#include "nn/attention/columns.h"

#include <ATen/ops/cat.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace nmt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The tensor whose neighbouring columns the parts are; undefined where they are none.
torch::Tensor whole_of(const std::vector<torch::Tensor>& parts) {
  const auto& first = parts.front();
  if (!first.defined() || first.dim() == 0) return {};
  int64_t columns = 0;
  for (const auto& part : parts) {
    if (!part.defined() || !part.is_alias_of(first) || part.strides() != first.strides() ||
        part.sizes().slice(0, part.dim() - 1) != first.sizes().slice(0, first.dim() - 1) ||
        part.scalar_type() != first.scalar_type() || part.storage_offset() != first.storage_offset() + columns)
      return {};
    columns += part.size(-1);
  }
  if (first.stride(-1) != 1 || (first.dim() > 1 && first.stride(-2) != columns)) return {};
  auto sizes = first.sizes().vec();
  sizes.back() = columns;
  return first.as_strided(sizes, first.strides());
}

struct SplitColumns : torch::autograd::Function<SplitColumns> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& x, const std::vector<int64_t>& sizes) {
    auto parts = x.split_with_sizes(sizes, -1);
    context->saved_data["sizes"] = sizes;
    return parts;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    auto whole = whole_of(gradients);
    if (whole.defined()) return {whole, {}};
    const auto sizes = context->saved_data["sizes"].toIntVector();
    const auto there = std::ranges::find_if(gradients, [](const auto& part) { return part.defined(); });
    if (there == gradients.end()) return {torch::Tensor(), {}};
    auto like = there->sizes().vec();
    for (size_t i = 0; i < gradients.size(); ++i) {
      like.back() = sizes[i];
      if (!gradients[i].defined()) gradients[i] = torch::zeros(like, there->options());
    }
    return {at::cat(gradients, -1), {}};
  }
};

}  // namespace

std::vector<torch::Tensor> split_columns(const torch::Tensor& x, const std::vector<int64_t>& sizes) {
  return SplitColumns::apply(x, sizes);
}

std::vector<torch::Tensor> new_columns(const std::vector<torch::Tensor>& parts) {
  if (const auto whole = whole_of(parts); parts.size() > 1 && whole.defined()) {
    std::vector<int64_t> sizes;
    for (const auto& part : parts) sizes.push_back(part.size(-1));
    return torch::empty(whole.sizes(), whole.options()).split_with_sizes(sizes, -1);
  }
  std::vector<torch::Tensor> result;
  for (const auto& part : parts) result.push_back(torch::empty(part.sizes(), part.options()));
  return result;
}

}  // namespace nmt
