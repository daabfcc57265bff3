#include "nn/layers/feed_forward.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include "nn/device/cpu_kernels.h"
#include "nn/ops/forward_context.h"
#include "nn/ops/linear.h"

namespace nmt {

torch::Tensor take_auxiliary_losses(const std::vector<std::shared_ptr<torch::nn::Module>>& modules) {
  torch::Tensor sum;
  for (const auto& module : modules) {
    auto* has_loss = dynamic_cast<AuxiliaryLoss*>(module.get());
    const auto loss = has_loss ? has_loss->take_auxiliary_loss() : torch::Tensor();
    if (loss.defined()) sum = sum.defined() ? sum + loss : loss;
  }
  return sum;
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct FeedForwardProduct : torch::autograd::Function<FeedForwardProduct> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x_in, const torch::Tensor& inner,
                               const torch::Tensor& inner_bias, const torch::Tensor& outer,
                               const torch::Tensor& outer_bias, double p, int64_t key) {
    RECORD_FUNCTION("nmt::feed_forward", c10::ArrayRef<const c10::IValue>());
    const auto x = x_in.reshape({-1, x_in.size(-1)}).contiguous();  // [rows, in]
    const int64_t width = inner.size(0);
    auto hidden = torch::empty({x.size(0), width}, x.options());
    void* numbers = hidden.mutable_data_ptr();
    multiply_panels(x, pack_weights({inner}, x.scalar_type()), inner_bias, hidden, [&](int64_t begin, int64_t end) {
      kernels::kernels().relu_dropout(kernel_type(x), numbers, numbers, static_cast<float>(p),
                                      static_cast<uint64_t>(key), begin * width, end * width);
    });
    auto sizes = x_in.sizes().vec();
    sizes.back() = outer.size(0);
    auto y = torch::empty(sizes, x.options()), rows = y.view({-1, y.size(-1)});
    multiply_panels(hidden, pack_weights({outer}, x.scalar_type()), outer_bias, rows);
    context->save_for_backward({x, hidden, inner, outer});
    context->saved_data["p"] = p;
    context->saved_data["sizes"] = x_in.sizes().vec();
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    RECORD_FUNCTION("nmt::feed_forward_backward", c10::ArrayRef<const c10::IValue>());
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &hidden = saved[1], &inner = saved[2], &outer = saved[3];
    const auto p = static_cast<float>(context->saved_data["p"].toDouble());
    const auto of_y = gradients[0].reshape({-1, outer.size(0)}).contiguous();
    const int64_t width = hidden.size(1);
    auto of_outer = torch::zeros_like(outer), of_outer_bias = torch::zeros({outer.size(0)}, torch::kFloat32);
    add_training_gradient(hidden, of_y, of_outer, of_outer_bias);
    auto of_hidden = torch::empty_like(hidden);
    void* numbers = of_hidden.mutable_data_ptr();
    const void* values = hidden.const_data_ptr();
    multiply_panels(of_y, pack_transposed_weights({outer}, x.scalar_type()), {}, of_hidden,
                    [&](int64_t begin, int64_t end) {
                      kernels::kernels().relu_dropout_backward(kernel_type(x), numbers, numbers, values, p,
                                                               begin * width, end * width);
                    });
    auto of_inner = torch::zeros_like(inner), of_inner_bias = torch::zeros({width}, torch::kFloat32);
    add_training_gradient(x, of_hidden, of_inner, of_inner_bias);
    torch::Tensor of_x;
    if (context->needs_input_grad(0)) {
      of_x = torch::empty(context->saved_data["sizes"].toIntVector(), x.options());
      auto rows = of_x.view({-1, of_x.size(-1)});
      multiply_panels(of_hidden, pack_transposed_weights({inner}, x.scalar_type()), {}, rows);
    }
    return {of_x, of_inner, of_inner_bias, of_outer, of_outer_bias, {}, {}};
  }
};

}  // namespace

torch::Tensor multiply_feed_forward(const torch::Tensor& x, const AffineMap& inner, const AffineMap& outer, double p,
                                    uint64_t key) {
  return FeedForwardProduct::apply(x, inner.weight, inner.bias, outer.weight, outer.bias, p, static_cast<int64_t>(key));
}

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
