#include "nn/ops/activation.h"

#include <ATen/Parallel.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>

#include <cmath>
#include <numbers>

#include "nn/ops/kernel_support.h"

namespace nmt {

Activation activation_of(FeedForwardActivation activation) {
  switch (activation) {
    case FeedForwardActivation::kRelu:
      return Activation::kRelu;
    case FeedForwardActivation::kGelu:
    case FeedForwardActivation::kGeglu:
      return Activation::kGelu;
    case FeedForwardActivation::kGeluTanh:
    case FeedForwardActivation::kGegluTanh:
      return Activation::kGeluTanh;
    case FeedForwardActivation::kSwish:
    case FeedForwardActivation::kSwiglu:
      return Activation::kSwish;
  }
  return Activation::kNone;
}

Activation activation_of(ProjectionActivation activation) {
  return activation == ProjectionActivation::kRelu ? Activation::kRelu : Activation::kNone;
}

namespace {

// ATen computes whole vectors and what is left over by different exponential functions: while decoding a row's result
// would depend on the rows beside it.
template <typename Function>
torch::Tensor map_elements(const torch::Tensor& x, Function&& function) {
  const auto values = x.contiguous();
  auto result = torch::empty_like(values);
  const float* from = values.const_data_ptr<float>();
  float* to = result.mutable_data_ptr<float>();
  at::parallel_for(0, values.numel(), 8192, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = function(from[i]);
  });
  return result;
}

float gelu_tanh(float v) {
  constexpr auto kScale = std::numbers::sqrt2_v<float> * std::numbers::inv_sqrtpi_v<float>;  // sqrt(2 / pi)
  return 0.5F * v * (1 + std::tanh(kScale * (v + 0.044715F * v * v * v)));
}

}  // namespace

torch::Tensor activate(const torch::Tensor& x, Activation activation) {
  constexpr auto kRoot = std::numbers::sqrt2_v<float> / 2;
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kGelu:
      return has_decoding_kernel(x) ? map_elements(x, [](float v) { return v * 0.5f * (1 + std::erf(v * kRoot)); })
                                    : at::gelu(x);
    case Activation::kGeluTanh:
      return has_decoding_kernel(x) ? map_elements(x, gelu_tanh) : at::gelu(x, "tanh");
    case Activation::kSwish:
      return has_decoding_kernel(x) ? map_elements(x, [](float v) { return v / (1 + std::exp(-v)); }) : at::silu(x);
    case Activation::kSigmoid:
      return has_decoding_kernel(x) ? map_elements(x, [](float v) { return 1 / (1 + std::exp(-v)); }) : at::sigmoid(x);
  }
  return x;
}

}  // namespace nmt
