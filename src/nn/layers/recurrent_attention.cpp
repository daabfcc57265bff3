#include "nn/layers/recurrent_attention.h"

#include "base/error.h"
#include "nn/ops/dropout.h"
#include "nn/ops/score_products.h"
#include "nn/scores/make_attention_score.h"

namespace nmt {

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
