#include "nn/scores/local_window.h"

#include <limits>

#include "nn/ops/score_products.h"

namespace nmt {

LocalWindowImpl::LocalWindowImpl(int64_t query, int64_t inner, int64_t window)
    : window_(static_cast<double>(window)),
      hidden_(register_module("hidden", Linear(query, inner, LinearImpl::Bias::kNo))),
      centre_(register_module("centre", Linear(inner, 1, LinearImpl::Bias::kNo))) {}

torch::Tensor LocalWindowImpl::forward(const torch::Tensor& query, const torch::Tensor& scores,
                                       const torch::Tensor& lengths) {
  const auto floats = torch::TensorOptions(torch::kFloat32).device(scores.device());
  const auto sizes = lengths.to(floats.device()).to(torch::kFloat32).view({-1, 1, 1});
  const auto centres = sizes * centre_(hidden_(query).tanh()).to(torch::kFloat32).sigmoid();  // [batch, target, 1]
  const auto distances = torch::arange(scores.size(2), floats) - centres;                     // [batch, target, source]
  const auto outside = distances.detach().abs() > window_;
  const auto inside = scores.to(torch::kFloat32).masked_fill(outside, -std::numeric_limits<double>::infinity());
  return softmax_scores(inside, lengths) * (distances.square() * (-2 / (window_ * window_))).exp();
}

}  // namespace nmt
