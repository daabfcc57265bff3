#include "nn/scores/local_window.h"

#include <limits>

#include "nn/device/device.h"
#include "nn/ops/activation.h"
#include "nn/ops/score_products.h"

namespace nmt {

LocalWindowImpl::LocalWindowImpl(const Options& options) : options_(options) {
  if (options.kind != AttentionWindow::kPredictive) return;
  hidden_ = register_module("hidden", Linear(options.query, options.inner, LinearImpl::Bias::kNo));
  centre_ = register_module("centre", Linear(options.inner, 1, LinearImpl::Bias::kNo));
}

torch::Tensor LocalWindowImpl::centres(const torch::Tensor& query, const torch::Tensor& sizes, int64_t position) {
  if (options_.kind == AttentionWindow::kMonotonic) return (sizes - 1).clamp_max(static_cast<double>(position));
  return sizes * activate(centre_(hidden_(query).tanh()).to(torch::kFloat32), Activation::kSigmoid);
}

torch::Tensor LocalWindowImpl::forward(const torch::Tensor& query, const torch::Tensor& scores,
                                       const torch::Tensor& lengths, int64_t position) {
  const double window = static_cast<double>(options_.window);
  const auto floats = torch::TensorOptions(torch::kFloat32).device(scores.device());
  const auto sizes = copy_to_device(lengths, floats.device()).to(torch::kFloat32).view({-1, 1, 1});
  const auto distances = torch::arange(scores.size(2), floats) - centres(query, sizes, position);
  const auto outside = distances.detach().abs() > window;  // [batch, target or 1, source]
  const auto weights = [&] {
    const auto all = scores.to(torch::kFloat32);
    if (!options_.softmax) return all.masked_fill(outside.logical_or(padding_mask(lengths, scores)), 0.0);
    return softmax_scores(all.masked_fill(outside, -std::numeric_limits<double>::infinity()), lengths);
  }();
  if (options_.kind == AttentionWindow::kMonotonic) return weights;
  return weights * (distances.square() * (-2 / (window * window))).exp();
}

}  // namespace nmt
