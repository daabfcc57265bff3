#include "nn/ops/forward_context.h"

#include <ATen/Parallel.h>
#include <ATen/ops/relu.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/functional/dropout.h>

#include "nn/device/cpu_kernels.h"

namespace nmt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kElementsEach = 16384;  // for one thread

torch::Tensor run_kernel(const torch::Tensor& x, const torch::Tensor& residual, double p, uint64_t key) {
  RECORD_FUNCTION("nmt::dropout", c10::ArrayRef<const c10::IValue>());
  auto out = torch::empty_like(x, torch::MemoryFormat::Contiguous);
  const void* from = x.const_data_ptr();
  const void* base = residual.defined() ? residual.const_data_ptr() : nullptr;
  void* to = out.mutable_data_ptr();
  const auto type = kernel_type(x);
  at::parallel_for(0, x.numel(), kElementsEach, [&](int64_t begin, int64_t end) {
    kernels::kernels().dropout(type, to, from, base, static_cast<float>(p), key, begin, end);
  });
  return out;
}

struct Dropout : torch::autograd::Function<Dropout> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const std::optional<torch::Tensor>& residual, double p, int64_t key) {
    context->saved_data["p"] = p;
    context->saved_data["key"] = key;
    context->saved_data["residual"] = residual.has_value();
    return run_kernel(x.contiguous(), residual ? residual->contiguous() : torch::Tensor(), p,
                      static_cast<uint64_t>(key));
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto gradient = gradients[0].contiguous();
    const auto key = static_cast<uint64_t>(context->saved_data["key"].toInt());
    const auto of_x = run_kernel(gradient, {}, context->saved_data["p"].toDouble(), key);
    return {of_x, context->saved_data["residual"].toBool() ? gradient : torch::Tensor(), {}, {}};
  }
};

struct ReluDropout : torch::autograd::Function<ReluDropout> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x_in, double p, int64_t key) {
    RECORD_FUNCTION("nmt::relu_dropout", c10::ArrayRef<const c10::IValue>());
    const auto x = x_in.contiguous();
    auto out = torch::empty_like(x);
    const void* from = x.const_data_ptr();
    void* to = out.mutable_data_ptr();
    at::parallel_for(0, x.numel(), kElementsEach, [&](int64_t begin, int64_t end) {
      kernels::kernels().relu_dropout(kernel_type(x), to, from, static_cast<float>(p), static_cast<uint64_t>(key),
                                      begin, end);
    });
    context->saved_data["p"] = p;
    context->save_for_backward({out});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    RECORD_FUNCTION("nmt::relu_dropout", c10::ArrayRef<const c10::IValue>());
    const auto out = context->get_saved_variables()[0];
    const auto gradient = gradients[0].contiguous();
    auto of_x = torch::empty_like(out);
    const void* from = gradient.const_data_ptr();
    const void* result = out.const_data_ptr();
    void* to = of_x.mutable_data_ptr();
    const auto p = static_cast<float>(context->saved_data["p"].toDouble());
    at::parallel_for(0, out.numel(), kElementsEach, [&](int64_t begin, int64_t end) {
      kernels::kernels().relu_dropout_backward(kernel_type(out), to, from, result, p, begin, end);
    });
    return {of_x, {}, {}};
  }
};

}  // namespace

ForwardContext::ForwardContext(uint64_t seed, int64_t update, int64_t micro_batch)
    : training_(true),
      key_(mix64(mix64(seed + 0x9e3779b97f4a7c15ULL) ^
                 mix64((static_cast<uint64_t>(micro_batch / 1024) << 48) + static_cast<uint64_t>(update) * 1024 +
                       micro_batch % 1024 + 1))) {}

torch::Tensor dropout(const torch::Tensor& x, double p, ForwardContext& pass) {
  if (!pass.training() || p == 0) return x;
  const uint64_t key = pass.next_key();
  if (!has_cpu_kernel(x)) return at::dropout(x, p, /*train=*/true);
  return Dropout::apply(x, std::nullopt, p, static_cast<int64_t>(key));
}

torch::Tensor relu_dropout(const torch::Tensor& x, double p, ForwardContext& pass) {
  if (!pass.training() || p == 0 || !has_cpu_kernel(x)) return dropout(at::relu(x), p, pass);
  return ReluDropout::apply(x, p, static_cast<int64_t>(pass.next_key()));
}

torch::Tensor add_dropped(const torch::Tensor& residual, const torch::Tensor& x, double p, ForwardContext& pass) {
  if (!pass.training() || p == 0) return residual + x;
  const uint64_t key = pass.next_key();
  if (!has_cpu_kernel(x)) return residual + at::dropout(x, p, /*train=*/true);
  return Dropout::apply(x, optional_tensor(residual), p, static_cast<int64_t>(key));
}

}  // namespace nmt
