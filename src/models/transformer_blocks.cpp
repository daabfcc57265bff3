#include "models/transformer.h"
#include "nn/dropout.h"

namespace nmt {
namespace {

// One residual sub-layer around `body`, normalised before or after.
template <typename Body>
torch::Tensor sublayer(const torch::Tensor& x, LayerNorm& norm, const BlockOptions& options, Pass& pass, Body&& body) {
  if (options.norm == Norm::kPre) return add_dropped(x, body(norm(x)), options.residual_dropout, pass);
  return norm(add_dropped(x, body(x), options.residual_dropout, pass));
}

}  // namespace

EncoderBlockImpl::EncoderBlockImpl(const BlockOptions& options) : options_(options) {
  const int64_t model = options.attention.model;
  self_attention_ = register_module("self_attention", MultiHeadAttention(options.attention));
  self_attention_norm_ = register_module("self_attention_norm", LayerNorm(model, options.norm_epsilon));
  feed_forward_ = register_module("feed_forward", FeedForward(options.feed_forward));
  feed_forward_norm_ = register_module("feed_forward_norm", LayerNorm(model, options.norm_epsilon));
}

torch::Tensor EncoderBlockImpl::forward(torch::Tensor x, const torch::Tensor& lengths, Pass& pass) {
  x = sublayer(x, self_attention_norm_, options_, pass, [&](const torch::Tensor& y) {
    return self_attention_->forward_self(y, lengths, /*causal=*/false, pass);
  });
  return sublayer(x, feed_forward_norm_, options_, pass,
                  [&](const torch::Tensor& y) { return feed_forward_(y, pass); });
}

DecoderBlockImpl::DecoderBlockImpl(const BlockOptions& options) : options_(options) {
  const int64_t model = options.attention.model;
  self_attention_ = register_module("self_attention", MultiHeadAttention(options.attention));
  self_attention_norm_ = register_module("self_attention_norm", LayerNorm(model, options.norm_epsilon));
  cross_attention_ = register_module("cross_attention", MultiHeadAttention(options.attention));
  cross_attention_norm_ = register_module("cross_attention_norm", LayerNorm(model, options.norm_epsilon));
  feed_forward_ = register_module("feed_forward", FeedForward(options.feed_forward));
  feed_forward_norm_ = register_module("feed_forward_norm", LayerNorm(model, options.norm_epsilon));
}

torch::Tensor DecoderBlockImpl::forward(torch::Tensor x, const torch::Tensor& target_lengths,
                                        const torch::Tensor& memory, const torch::Tensor& source_lengths, Pass& pass) {
  x = sublayer(x, self_attention_norm_, options_, pass, [&](const torch::Tensor& y) {
    return self_attention_->forward_self(y, target_lengths, /*causal=*/true, pass);
  });
  x = sublayer(x, cross_attention_norm_, options_, pass, [&](const torch::Tensor& y) {
    return cross_attention_->forward_cross(y, target_lengths, memory, source_lengths, pass);
  });
  return sublayer(x, feed_forward_norm_, options_, pass,
                  [&](const torch::Tensor& y) { return feed_forward_(y, pass); });
}

torch::Tensor DecoderBlockImpl::step(torch::Tensor x, BlockCache& cache, const StepPlace& place) {
  Pass no_dropout;
  x = sublayer(x, self_attention_norm_, options_, no_dropout, [&](const torch::Tensor& y) {
    const auto projected = self_attention_->project_memory(y);  // [rows, model]
    cache.self.keys.select(1, place.position).copy_(projected.keys);
    cache.self.values.select(1, place.position).copy_(projected.values);
    return self_attention_->step(y, cache.self, torch::Tensor(), place.self_lengths);
  });
  x = sublayer(x, cross_attention_norm_, options_, no_dropout, [&](const torch::Tensor& y) {
    return cross_attention_->step(y, cache.memory, place.sentence_of_row, place.source_lengths);
  });
  return sublayer(x, feed_forward_norm_, options_, no_dropout,
                  [&](const torch::Tensor& y) { return feed_forward_(y, no_dropout); });
}

}  // namespace nmt
