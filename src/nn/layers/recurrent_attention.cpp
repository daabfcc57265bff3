#include "nn/layers/recurrent_attention.h"

#include <limits>

#include "base/error.h"
#include "nn/attention/head_scores.h"
#include "nn/device/device.h"
#include "nn/ops/activation.h"
#include "nn/ops/forward_context.h"
#include "nn/scores/attention_score.h"

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

RecurrentAttentionImpl::RecurrentAttentionImpl(const Options& options) : options_(options) {
  const bool local = options.score == AttentionScoreKind::kLocal;
  score_ = register_module(
      "score",
      make_attention_score(local ? AttentionScoreKind::kGeneral : AttentionScoreKind(options.score), options.sizes));
  if (local || options.window != AttentionWindow::kNone)
    window_ = register_module(
        "window", LocalWindow(LocalWindowImpl::Options{.kind = local ? AttentionWindow::kPredictive : options.window,
                                                       .query = options.sizes.query,
                                                       .inner = options.sizes.inner,
                                                       .window = options.local_window,
                                                       .softmax = options.softmax || local}));
  if (!options.sizes.coverage) return;
  covered_score_ = std::dynamic_pointer_cast<AdditiveScore>(score_);
  if (!covered_score_)
    throw Error("model.coverage: attention score " + options.score.name() +
                " takes none; use attention_score: additive");
}

RecurrentAttentionImpl::Memory RecurrentAttentionImpl::prepare(const torch::Tensor& values,
                                                               const torch::Tensor& lengths) {
  return {values, score_->prepare(values), lengths};
}

RecurrentAttentionImpl::Result RecurrentAttentionImpl::forward(const torch::Tensor& query, const Memory& memory,
                                                               const torch::Tensor& coverage, int64_t position,
                                                               ForwardContext& pass) {
  const auto scores = covered_score_ ? covered_score_->forward(query, memory.prepared, coverage)
                                     : score_->forward(query, memory.prepared);
  torch::Tensor weights;
  if (window_)
    weights = window_(query, scores, memory.lengths, position);
  else if (options_.softmax)
    weights = softmax_scores(scores, memory.lengths);
  else
    weights = scores.to(torch::kFloat32).masked_fill(padding_mask(memory.lengths, scores), 0.0);
  const auto dropped = dropout(weights, options_.dropout, pass);
  return {weighted_sums(dropped.to(memory.values.scalar_type()), memory.values), weights};
}

}  // namespace nmt
