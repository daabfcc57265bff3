#include "nn/ops/activation.h"

#include <ATen/Parallel.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>

#include "nn/device/cpu_kernels.h"

namespace nmt {

torch::Tensor activate(const torch::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return at::relu(x);
    default:
      break;
  }
  if (has_decoding_kernel(x)) {
    const auto values = x.contiguous();
    auto result = torch::empty_like(values);
    const float* from = values.const_data_ptr<float>();
    float* to = result.mutable_data_ptr<float>();
    at::parallel_for(0, values.numel(), 8192, [&](int64_t begin, int64_t end) {
      inference::activate(activation, from + begin, to + begin, end - begin);
    });
    return result;
  }
  switch (activation) {
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kSwish:
      return at::silu(x);
    case Activation::kSigmoid:
      return at::sigmoid(x);
    default:
      return x;
  }
}

torch::Tensor Epilogue::apply(const torch::Tensor& y) const {
  const auto activated = activate(y, activation);
  return residual.defined() ? activated + residual : activated;
}

}  // namespace nmt
