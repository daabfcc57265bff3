#include "nn/feed_forward.h"

#include <ATen/Parallel.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>

#include <cmath>

#include "base/error.h"
#include "nn/dropout.h"

namespace nmt {

Activation parse_activation(const std::string& name) {
  if (name == "none") return Activation::kNone;
  if (name == "relu") return Activation::kRelu;
  if (name == "gelu") return Activation::kGelu;
  if (name == "swish") return Activation::kSwish;
  throw Error("model.activation: '" + name + "' is none of none, relu, gelu, swish");
}

namespace {

// x sigmoid(x). ATen computes whole vectors and what is left over by different exponential functions: while decoding a
// row's result would depend on the rows beside it.
torch::Tensor swish(const torch::Tensor& x) {
  if (torch::GradMode::is_enabled() || !x.device().is_cpu() || x.scalar_type() != torch::kFloat32) return at::silu(x);
  const auto values = x.contiguous();
  auto result = torch::empty_like(values);
  const float* from = values.const_data_ptr<float>();
  float* to = result.mutable_data_ptr<float>();
  at::parallel_for(0, values.numel(), 8192, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = from[i] / (1 + std::exp(-from[i]));
  });
  return result;
}

}  // namespace

torch::Tensor activate(const torch::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kSwish:
      return swish(x);
  }
  return x;
}

FeedForwardImpl::FeedForwardImpl(const Options& options) : options_(options) {
  inner_ = register_module("inner", Linear(options.model, options.inner, LinearImpl::Bias::kYes));
  outer_ = register_module("outer", Linear(options.inner, options.model, LinearImpl::Bias::kYes));
}

torch::Tensor FeedForwardImpl::forward(const torch::Tensor& x, Pass& pass) {
  const auto hidden = activate(inner_(x), options_.activation);  // [..., inner]
  return outer_(dropout(hidden, options_.dropout, pass));
}

}  // namespace nmt
