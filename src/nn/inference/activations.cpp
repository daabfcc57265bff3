#include "nn/inference/activations.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "nn/kernels/kernels.h"

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

namespace inference {
namespace {

float gelu(float v) {
  constexpr auto kRoot = std::numbers::sqrt2_v<float> / 2;
  return v * 0.5f * (1 + std::erf(v * kRoot));
}

float gelu_tanh(float v) {
  constexpr auto kScale = std::numbers::sqrt2_v<float> * std::numbers::inv_sqrtpi_v<float>;  // sqrt(2 / pi)
  return 0.5F * v * (1 + std::tanh(kScale * (v + 0.044715F * v * v * v)));
}

}  // namespace

void activate(Activation activation, const float* x, float* y, int64_t count) {
  switch (activation) {
    case Activation::kNone:
      if (x != y) std::copy_n(x, count, y);
      return;
    case Activation::kRelu:
      for (int64_t i = 0; i < count; ++i) y[i] = x[i] < 0 ? 0 : x[i];
      return;
    case Activation::kGelu:
      for (int64_t i = 0; i < count; ++i) y[i] = gelu(x[i]);
      return;
    case Activation::kGeluTanh:
      for (int64_t i = 0; i < count; ++i) y[i] = gelu_tanh(x[i]);
      return;
    case Activation::kSwish:
      for (int64_t i = 0; i < count; ++i) y[i] = x[i] / (1 + std::exp(-x[i]));
      return;
    case Activation::kSigmoid:
      return kernels::kernels().sigmoid(x, y, count);
  }
}

}  // namespace inference
}  // namespace nmt
