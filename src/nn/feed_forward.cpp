#include "nn/feed_forward.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>

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

torch::Tensor activate(const torch::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kSwish:
      return at::silu(x);
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
