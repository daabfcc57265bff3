#include "nn/layers/dense_feed_forward.h"

#include "nn/layers/feed_forward_product.h"
#include "nn/ops/dropout.h"
#include "nn/ops/training_panels.h"

namespace nmt {

DenseFeedForward::DenseFeedForward(const FeedForwardOptions& options) : options_(options) {
  inner_ = register_module("inner", Linear(options.model, options.inner, LinearImpl::Bias::kYes));
  if (options.gated) gated_ = register_module("gated", Linear(options.model, options.inner, LinearImpl::Bias::kYes));
  outer_ = register_module("outer", Linear(options.inner, options.model, LinearImpl::Bias::kYes));
}

torch::Tensor DenseFeedForward::forward(const torch::Tensor& x, ForwardContext& pass, const torch::Tensor& residual) {
  if (pass.training() && options_.activation == Activation::kRelu && !gated_) {
    const double p = options_.dropout;
    if (p > 0 && has_training_kernel(x, inner_->weight) && has_training_kernel(x, outer_->weight)) {
      const auto y =
          multiply_feed_forward(x, {inner_->weight, inner_->bias}, {outer_->weight, outer_->bias}, p, pass.next_key());
      return Epilogue{.residual = residual}.apply(y);
    }
    return outer_(relu_dropout(inner_(x), p, pass), Epilogue{.residual = residual});
  }
  auto hidden = inner_(x, Epilogue{.activation = options_.activation});  // [..., inner]
  if (gated_) hidden = hidden * gated_(x);
  return outer_(dropout(hidden, options_.dropout, pass), Epilogue{.residual = residual});
}

}  // namespace nmt
