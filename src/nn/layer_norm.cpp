#include "nn/layer_norm.h"

#include <ATen/ops/layer_norm.h>

namespace nmt {

LayerNormImpl::LayerNormImpl(int64_t model, double epsilon) : epsilon_(epsilon) {
  weight = register_parameter("weight", torch::ones({model}));
  bias = register_parameter("bias", torch::zeros({model}));
}

torch::Tensor LayerNormImpl::forward(const torch::Tensor& x) const {
  // On the CPU float weights go with x of lower precision; other devices want one type.
  if (x.device().is_cpu()) return at::layer_norm(x, weight.sizes(), weight, bias, epsilon_);
  return at::layer_norm(x, weight.sizes(), weight.to(x.scalar_type()), bias.to(x.scalar_type()), epsilon_);
}

}  // namespace nmt
