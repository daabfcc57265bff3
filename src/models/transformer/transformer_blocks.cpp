#include "models/transformer/transformer_blocks.h"

#include <utility>

#include "nn/layers/average_attention.h"
#include "nn/layers/feed_forward.h"
#include "nn/layers/ssru.h"
#include "nn/ops/forward_context.h"

namespace nmt {

namespace {

// One residual sub-layer, normalised before or after. body(y, residual) is the sub-layer of y plus the residual, which
// may be undefined: while nothing is dropped its last product adds x at no cost.
template <typename Body>
torch::Tensor sublayer(const torch::Tensor& x, LayerNorm& norm, const BlockOptions& options, ForwardContext& pass,
                       Body&& body) {
  const auto residual = options.residual_weight == 1 ? x : x * options.residual_weight;
  const auto with_residual = [&](const torch::Tensor& y) {
    return pass.training() ? add_dropped(residual, body(y, torch::Tensor()), options.residual_dropout, pass)
                           : body(y, residual);
  };
  return options.norm == Norm::kPre ? with_residual(norm(x)) : norm(with_residual(x));
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

/// The feed-forward layers: a new one is a branch here.
std::shared_ptr<FeedForward> make_feed_forward(const BlockOptions& options) {
  if (options.make_feed_forward) return options.make_feed_forward(options.feed_forward);
  return std::make_shared<DenseFeedForward>(options.feed_forward);
}

}  // namespace

InitialValues BlockOptions::initial_values(const InitialValues& of_model) const {
  auto values = of_model.scaled(initial_gain);
  values.branch_gain *= branch_gain;
  return values;
}

inference::BlockWeights BlockOptions::inference_form() const {
  return {.pre_norm = norm == Norm::kPre, .residual_weight = static_cast<float>(residual_weight)};
}

torch::Tensor TransformerBlock::take_auxiliary_loss() { return std::exchange(auxiliary_loss_, torch::Tensor()); }

torch::Tensor TransformerBlock::run_checkpointed(const Body& body, const std::vector<torch::Tensor>& inputs,
                                                 ForwardContext& pass) {
  // The losses of layers are results of the block, as its output is: their gradients pass through the same node.
  const auto part = [this, body](const std::vector<torch::Tensor>& entering, ForwardContext& own_pass) {
    std::vector<torch::Tensor> outputs = {body(entering, own_pass)};
    if (auto loss = take_auxiliary_losses(modules(/*include_self=*/false)); loss.defined())
      outputs.push_back(std::move(loss));
    return outputs;
  };
  auto used = parameters();
  used.insert(used.end(), options_.shared_parameters.begin(), options_.shared_parameters.end());
  auto outputs = checkpointed(part, inputs, used, pass);
  auxiliary_loss_ = outputs.size() > 1 ? outputs[1] : torch::Tensor();
  return outputs[0];
}

EncoderBlockImpl::EncoderBlockImpl(const BlockOptions& options) : TransformerBlock(options) {
  self_attention_ = register_module("self_attention", MultiHeadAttention(options.self_attention));
  self_attention_norm_ = register_module("self_attention_norm", make_norm(options));
  feed_forward_ = register_module("feed_forward", make_feed_forward(options));
  feed_forward_norm_ = register_module("feed_forward_norm", make_norm(options));
}

torch::Tensor EncoderBlockImpl::forward(const torch::Tensor& x, const torch::Tensor& lengths, ForwardContext& pass) {
  if (!checkpointing_ || pass.records_attention(options_.self_attention.name)) return compute(x, lengths, pass);
  return run_checkpointed([this, lengths](const auto& in, auto& own_pass) { return compute(in[0], lengths, own_pass); },
                          {x}, pass);
}

torch::Tensor EncoderBlockImpl::compute(torch::Tensor x, const torch::Tensor& lengths, ForwardContext& pass) {
  x = sublayer(x, self_attention_norm_, options_, pass, [&](const auto& y, const auto& residual) {
    return self_attention_->forward_self(y, lengths, /*causal=*/false, pass, residual);
  });
  return sublayer(x, feed_forward_norm_, options_, pass,
                  [&](const auto& y, const auto& residual) { return feed_forward_->forward(y, pass, residual); });
}

inference::BlockWeights EncoderBlockImpl::inference_weights() {
  auto weights = options_.inference_form();
  weights.mixer = self_attention_->self_attention_weights();
  weights.mixer_norm = self_attention_norm_->inference_weights();
  weights.feed_forward = feed_forward_->inference_weights();
  weights.feed_forward_norm = feed_forward_norm_->inference_weights();
  return weights;
}

DecoderBlockImpl::DecoderBlockImpl(const BlockOptions& options) : TransformerBlock(options) {
  const std::string name = options.mixer == MixerKind::kAttention ? "self_attention" : "mixer";
  mixer_ = register_module(name, make_mixer(options));
  mixer_norm_ = register_module(name + "_norm", make_norm(options));
  cross_attention_ = register_module("cross_attention", MultiHeadAttention(options.cross_attention));
  cross_attention_norm_ = register_module("cross_attention_norm", make_norm(options));
  feed_forward_ = register_module("feed_forward", make_feed_forward(options));
  feed_forward_norm_ = register_module("feed_forward_norm", make_norm(options));
}

torch::Tensor DecoderBlockImpl::forward(const torch::Tensor& x, const torch::Tensor& target_lengths,
                                        const torch::Tensor& memory, const torch::Tensor& source_lengths,
                                        ForwardContext& pass) {
  if (!checkpointing_ || pass.records_attention(options_.self_attention.name) ||
      pass.records_attention(options_.cross_attention.name))
    return compute(x, target_lengths, memory, source_lengths, pass);
  const auto body = [this, target_lengths, source_lengths](const auto& in, auto& own_pass) {
    return compute(in[0], target_lengths, in[1], source_lengths, own_pass);
  };
  return run_checkpointed(body, {x, memory}, pass);
}

torch::Tensor DecoderBlockImpl::compute(torch::Tensor x, const torch::Tensor& target_lengths,
                                        const torch::Tensor& memory, const torch::Tensor& source_lengths,
                                        ForwardContext& pass) {
  x = sublayer(x, mixer_norm_, options_, pass, [&](const auto& y, const auto& residual) {
    return Epilogue{.residual = residual}.apply(mixer_->forward(y, target_lengths, pass));
  });
  x = sublayer(x, cross_attention_norm_, options_, pass, [&](const auto& y, const auto& residual) {
    const auto attended = cross_attention_->forward_cross(y, target_lengths, memory, source_lengths, pass);
    return Epilogue{.residual = residual}.apply(attended);
  });
  return sublayer(x, feed_forward_norm_, options_, pass,
                  [&](const auto& y, const auto& residual) { return feed_forward_->forward(y, pass, residual); });
}

inference::BlockWeights DecoderBlockImpl::inference_weights() {
  auto weights = options_.inference_form();
  weights.mixer = mixer_->inference_weights();
  weights.mixer_norm = mixer_norm_->inference_weights();
  weights.cross_attention = cross_attention_->cross_attention_weights();
  weights.cross_attention_norm = cross_attention_norm_->inference_weights();
  weights.feed_forward = feed_forward_->inference_weights();
  weights.feed_forward_norm = feed_forward_norm_->inference_weights();
  return weights;
}

torch::Tensor DecoderBlockImpl::step(torch::Tensor x, BlockCache& cache, const StepRows& rows) {
  ForwardContext no_dropout;
  x = sublayer(x, mixer_norm_, options_, no_dropout, [&](const auto& y, const auto& residual) {
    return mixer_->step(y, *cache.past, rows.positions, residual);
  });
  x = sublayer(x, cross_attention_norm_, options_, no_dropout, [&](const auto& y, const auto& residual) {
    return cross_attention_->step_cross(y, *cache.source, rows.sources, residual);
  });
  return sublayer(x, feed_forward_norm_, options_, no_dropout,
                  [&](const auto& y, const auto& residual) { return feed_forward_->forward(y, no_dropout, residual); });
}

}  // namespace nmt
