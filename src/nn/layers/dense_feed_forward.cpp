#include "nn/layers/dense_feed_forward.h"

#include "nn/ops/dropout.h"

namespace nmt {

DenseFeedForward::DenseFeedForward(const FeedForwardOptions& options) : options_(options) {
  inner_ = register_module("inner", Linear(options.model, options.inner, LinearImpl::Bias::kYes));
  if (options.gated) gated_ = register_module("gated", Linear(options.model, options.inner, LinearImpl::Bias::kYes));
  outer_ = register_module("outer", Linear(options.inner, options.model, LinearImpl::Bias::kYes));
}

torch::Tensor DenseFeedForward::forward(const torch::Tensor& x, ForwardContext& pass, const torch::Tensor& residual) {
  if (pass.training() && options_.activation == Activation::kRelu && !gated_)
    return outer_(relu_dropout(inner_(x), options_.dropout, pass), Epilogue{.residual = residual});
  auto hidden = inner_(x, Epilogue{.activation = options_.activation});  // [..., inner]
  if (gated_) hidden = hidden * gated_(x);
  return outer_(dropout(hidden, options_.dropout, pass), Epilogue{.residual = residual});
}

}  // namespace nmt
