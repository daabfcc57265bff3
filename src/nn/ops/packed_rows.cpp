#include "nn/ops/packed_rows.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "nn/device/device.h"

namespace nmt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct TakeRows : torch::autograd::Function<TakeRows> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, const torch::Tensor& rows) {
    context->save_for_backward({rows});
    context->saved_data["all"] = x.size(0);
    return x.index_select(0, rows);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto rows = context->get_saved_variables()[0];
    const auto& gradient = gradients[0];
    const int64_t all = context->saved_data["all"].toInt();
    return {gradient.new_zeros({all, gradient.size(1)}).index_copy_(0, rows, gradient), {}};
  }
};

}  // namespace

PackedRows pack_rows(const torch::Tensor& lengths, int64_t width, torch::Device device) {
  const int64_t batch = lengths.size(0);
  const int64_t* counts = lengths.const_data_ptr<int64_t>();
  auto cu_seqlens = at::empty({batch + 1}, torch::kInt32);
  int32_t* ends = cu_seqlens.mutable_data_ptr<int32_t>();
  int64_t longest = 0;
  *ends = 0;
  for (int64_t b = 0; b < batch; ++b) {
    TORCH_CHECK(counts[b] >= 0 && counts[b] <= width, "a sentence of ", counts[b], " tokens in rows of ", width);
    ends[b + 1] = ends[b] + static_cast<int32_t>(counts[b]);
    longest = std::max(longest, counts[b]);
  }
  auto rows = at::empty({ends[batch]}, torch::kInt64);
  int64_t* row = rows.mutable_data_ptr<int64_t>();
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t t = 0; t < counts[b]; ++t) *row++ = b * width + t;
  return {copy_to_device(rows, device), copy_to_device(cu_seqlens, device), longest};
}

torch::Tensor take_rows(const torch::Tensor& x, const torch::Tensor& rows) { return TakeRows::apply(x, rows); }

}  // namespace nmt
