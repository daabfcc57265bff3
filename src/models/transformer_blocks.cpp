#include "base/error.h"
#include "models/transformer.h"
#include "nn/average_attention.h"
#include "nn/dropout.h"
#include "nn/ssru.h"

namespace nmt {
namespace {

// One residual sub-layer around `body`, normalised before or after.
template <typename Body>
torch::Tensor sublayer(const torch::Tensor& x, LayerNorm& norm, const BlockOptions& options, Pass& pass, Body&& body) {
  if (options.norm == Norm::kPre) return add_dropped(x, body(norm(x)), options.residual_dropout, pass);
  return norm(add_dropped(x, body(x), options.residual_dropout, pass));
}

LayerNorm make_norm(const BlockOptions& options) {
  return LayerNorm(options.feed_forward.model, options.norm_epsilon, options.norm_form);
}

std::shared_ptr<Mixer> make_mixer(const BlockOptions& options) {
  const int64_t model = options.feed_forward.model;
  switch (options.mixer) {
    case MixerKind::kAttention:
      return std::make_shared<MultiHeadAttentionImpl>(options.self_attention);
    case MixerKind::kAverage:
      return std::make_shared<AverageAttention>(options.feed_forward);
    case MixerKind::kSsru:
      return std::make_shared<Ssru>(model);
  }
  return nullptr;
}

}  // namespace

MixerKind parse_mixer(const std::string& name) {
  if (name == "attention") return MixerKind::kAttention;
  if (name == "average") return MixerKind::kAverage;
  if (name == "ssru") return MixerKind::kSsru;
  throw Error("model.decoder_mixer: '" + name + "' is none of attention, average, ssru");
}

EncoderBlockImpl::EncoderBlockImpl(const BlockOptions& options) : options_(options) {
  self_attention_ = register_module("self_attention", MultiHeadAttention(options.self_attention));
  self_attention_norm_ = register_module("self_attention_norm", make_norm(options));
  feed_forward_ = register_module("feed_forward", FeedForward(options.feed_forward));
  feed_forward_norm_ = register_module("feed_forward_norm", make_norm(options));
}

torch::Tensor EncoderBlockImpl::forward(torch::Tensor x, const torch::Tensor& lengths, Pass& pass) {
  x = sublayer(x, self_attention_norm_, options_, pass, [&](const torch::Tensor& y) {
    return self_attention_->forward_self(y, lengths, /*causal=*/false, pass);
  });
  return sublayer(x, feed_forward_norm_, options_, pass,
                  [&](const torch::Tensor& y) { return feed_forward_(y, pass); });
}

DecoderBlockImpl::DecoderBlockImpl(const BlockOptions& options) : options_(options) {
  const std::string name = options.mixer == MixerKind::kAttention ? "self_attention" : "mixer";
  mixer_ = register_module(name, make_mixer(options));
  mixer_norm_ = register_module(name + "_norm", make_norm(options));
  cross_attention_ = register_module("cross_attention", MultiHeadAttention(options.cross_attention));
  cross_attention_norm_ = register_module("cross_attention_norm", make_norm(options));
  feed_forward_ = register_module("feed_forward", FeedForward(options.feed_forward));
  feed_forward_norm_ = register_module("feed_forward_norm", make_norm(options));
}

torch::Tensor DecoderBlockImpl::forward(torch::Tensor x, const torch::Tensor& target_lengths,
                                        const torch::Tensor& memory, const torch::Tensor& source_lengths, Pass& pass) {
  x = sublayer(x, mixer_norm_, options_, pass,
               [&](const torch::Tensor& y) { return mixer_->forward(y, target_lengths, pass); });
  x = sublayer(x, cross_attention_norm_, options_, pass, [&](const torch::Tensor& y) {
    return cross_attention_->forward_cross(y, target_lengths, memory, source_lengths, pass);
  });
  return sublayer(x, feed_forward_norm_, options_, pass,
                  [&](const torch::Tensor& y) { return feed_forward_(y, pass); });
}

torch::Tensor DecoderBlockImpl::step(torch::Tensor x, BlockCache& cache, const StepPlace& place) {
  Pass no_dropout;
  x = sublayer(x, mixer_norm_, options_, no_dropout,
               [&](const torch::Tensor& y) { return mixer_->step(y, cache.self, place.position); });
  x = sublayer(x, cross_attention_norm_, options_, no_dropout, [&](const torch::Tensor& y) {
    return cross_attention_->step_cross(y, cache.memory, place.sentence_of_row, place.source_lengths);
  });
  return sublayer(x, feed_forward_norm_, options_, no_dropout,
                  [&](const torch::Tensor& y) { return feed_forward_(y, no_dropout); });
}

}  // namespace nmt
