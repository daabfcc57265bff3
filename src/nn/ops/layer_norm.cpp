#include "nn/ops/layer_norm.h"

#include <ATen/Parallel.h>
#include <ATen/ops/layer_norm.h>

#include "base/error.h"
#include "nn/device/cpu_kernels.h"

namespace nmt {

LayerNormImpl::LayerNormImpl(int64_t model, double epsilon, NormForm form) : epsilon_(epsilon) {
  weight = register_parameter("weight", torch::ones({model}));
  if (form == NormForm::kLayer) bias = register_parameter("bias", torch::zeros({model}));
}

void LayerNormImpl::reset_parameters(const InitialValues& /*values*/, at::Generator& /*generator*/) {
  weight.fill_(1.0);
  if (bias.defined()) bias.zero_();
}

torch::Tensor LayerNormImpl::forward(const torch::Tensor& x) const {
  if (has_decoding_kernel(x)) return normalise_rows(x);
  if (!bias.defined()) {
    const auto wide = x.to(torch::kFloat32);
    return (wide * torch::rsqrt(wide.square().mean(-1, /*keepdim=*/true) + epsilon_) * weight).to(x.scalar_type());
  }
  // On the CPU float weights go with x of lower precision; other devices want one type.
  if (x.device().is_cpu()) return at::layer_norm(x, weight.sizes(), weight, bias, epsilon_);
  return at::layer_norm(x, weight.sizes(), weight.to(x.scalar_type()), bias.to(x.scalar_type()), epsilon_);
}

torch::Tensor LayerNormImpl::normalise_rows(const torch::Tensor& x_in) const {
  const auto x = x_in.contiguous();
  auto y = torch::empty_like(x);
  const kernels::NormRows task{.x = x.const_data_ptr<float>(),
                               .weight = weight.const_data_ptr<float>(),
                               .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
                               .y = y.mutable_data_ptr<float>(),
                               .size = x.size(-1),
                               .epsilon = static_cast<float>(epsilon_)};
  at::parallel_for(0, x.numel() / task.size, 64, [&](int64_t begin, int64_t end) {
    kernels::kernels().normalise(task, {begin, end});
  });
  return y;
}

}  // namespace nmt
