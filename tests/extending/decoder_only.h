#pragma once

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "config/config.h"
#include "models/interface/model.h"
#include "models/interface/model_initial_values.h"
#include "models/transformer/decoder_states.h"
#include "nn/device/cpu_kernels.h"
#include "nn/layers/embedding.h"
#include "nn/layers/feed_forward.h"
#include "nn/layers/multi_head_attention.h"
#include "nn/ops/forward_context.h"
#include "nn/ops/initial_values.h"
#include "nn/ops/layer_norm.h"

namespace nmt {

/// Causal self-attention and a feed-forward net, each x + dropout(sublayer(LN(x))). x [batch, time, model].
class CausalBlock final : public torch::nn::Module {
 public:
  explicit CausalBlock(const ModelConfig& c) : dropout_(c.dropout_rate) {
    attention_ = register_module(
        "attention", MultiHeadAttention(MultiHeadAttentionImpl::Options{.model = c.d_model, .heads = c.num_heads}));
    feed_forward_ = register_module(
        "feed_forward", std::make_shared<DenseFeedForward>(FeedForwardOptions{.model = c.d_model, .inner = c.d_ff}));
    attention_norm_ = register_module("attention_norm", LayerNorm(c.d_model, c.norm_epsilon));
    feed_forward_norm_ = register_module("feed_forward_norm", LayerNorm(c.d_model, c.norm_epsilon));
  }

  torch::Tensor forward(torch::Tensor x, const torch::Tensor& lengths, ForwardContext& pass) {
    const auto looked = attention_->forward_self(attention_norm_(x), lengths, /*causal=*/true, pass);
    x = add_dropped(x, looked, dropout_, pass);
    return add_dropped(x, feed_forward_->forward(feed_forward_norm_(x), pass, {}), dropout_, pass);
  }
  std::unique_ptr<LayerCache> start(const CacheOptions& options) const { return attention_->start(options); }
  torch::Tensor step(torch::Tensor x, LayerCache& cache, const RowPositions& positions) {
    ForwardContext no_dropout;
    x = attention_->step(attention_norm_(x), cache, positions, /*residual=*/x);
    return feed_forward_->forward(feed_forward_norm_(x), no_dropout, /*residual=*/x);
  }

 private:
  double dropout_;
  MultiHeadAttention attention_{nullptr};
  std::shared_ptr<FeedForward> feed_forward_;
  LayerNorm attention_norm_{nullptr}, feed_forward_norm_{nullptr};
};

/// A model without an encoder: one causal stack reads "source </s> <s> target" and continues (Radford et al. 2018).
/// Both languages share one vocabulary and one table, which is the output layer, too. Searches run on the CPU, or with
/// sources of one length: a search elsewhere has plain caches, whose rows stand at one position.
class DecoderOnly final : public TranslationModel, public HasInitialValues {
 public:
  DecoderOnly(const ModelConfig& c, int64_t vocabulary)
      : input_({.dropout = c.dropout_rate}, register_module("positions", make_positions({.model = c.d_model}))) {
    embedding_ = register_parameter("embedding", empty_parameter({vocabulary, c.d_model}));
    for (int64_t i = 0; i < c.num_blocks; ++i)
      blocks_.push_back(register_module(fmt::format("block_{}", i), std::make_shared<CausalBlock>(c)));
    norm_ = register_module("norm", LayerNorm(c.d_model, c.norm_epsilon));
  }

  torch::Tensor forward(const TensorBatch& batch, ForwardContext& pass) override {
    // Row b reads source_lengths[b] pieces and then target_lengths[b], without padding between them.
    const auto sources = batch.source_lengths.unsqueeze(1), targets = batch.target_lengths.unsqueeze(1);  // [batch, 1]
    const int64_t source_width = batch.source.size(1), target_width = batch.target_in.size(1);
    const auto lengths = batch.source_lengths + batch.target_lengths;
    const auto places = torch::arange(lengths.max().item<int64_t>()).unsqueeze(0);  // [1, time]
    const auto from = torch::where(places < sources, places, places - sources + source_width)
                          .clamp_max(source_width + target_width - 1);
    const auto ids = torch::cat({batch.source, batch.target_in}, 1).gather(1, from.to(batch.source.device()));
    const auto is_padding = (places >= sources + targets).to(ids.device());
    auto x = input_.forward(ids.masked_fill(is_padding, 0), embedding_, compute_type_, pass);  // [batch, time, model]
    for (auto& block : blocks_) x = block->forward(x, lengths, pass);
    const auto of_target = (sources + torch::arange(target_width)).clamp_max(x.size(1) - 1).unsqueeze(-1);
    return norm_(x.gather(1, of_target.expand({-1, -1, x.size(2)}).to(x.device())));  // [batch, target, model]
  }

  std::unique_ptr<DecoderState> start(const torch::Tensor& source, const torch::Tensor& source_lengths) override {
    if (source_lengths.eq(source.size(1)).all().item<bool>()) return read(source, source_lengths);
    TORCH_CHECK(capabilities().ragged_positions, "a search whose sources have one length");
    std::unique_ptr<DecoderState> all;
    for (int64_t row = 0; row < source.size(0); ++row) {  // each alone, without its padding
      const auto length = source_lengths.narrow(0, row, 1);
      auto one = read(source.narrow(0, row, 1).narrow(1, 0, length.item<int64_t>()), length);
      if (all) {
        all->join(std::move(one));
      } else {
        all = std::move(one);
      }
    }
    return all;
  }
  using TranslationModel::step;
  torch::Tensor step(DecoderState& state, const torch::Tensor& tokens_of_rows, StepLogits which) override {
    const auto tokens = tokens_of_rows.dim() == 1 ? tokens_of_rows.unsqueeze(1) : tokens_of_rows;  // [rows, n]
    return step_logits(state, decode(dynamic_cast<CachedState&>(state), tokens), which);
  }
  DecodingCapabilities capabilities() const override {
    const bool kernels = has_kernels();
    return {.ragged_positions = kernels, .exact_prefill = kernels};
  }

  torch::Tensor output_weight() const override { return embedding_; }
  torch::Tensor output_bias() const override { return {}; }
  int64_t target_vocabulary() const override { return embedding_.size(0); }
  void finish_gradients() override {
    if (embedding_.grad().defined()) embedding_.grad()[0].zero_();
  }
  void set_compute_type(at::ScalarType type) override { compute_type_ = type; }
  at::ScalarType compute_type() const override { return compute_type_; }
  void reset_parameters(const InitialValues& values, at::Generator& generator) override {
    draw_embeddings({embedding_}, /*zero_padding_row=*/true, values, generator);
  }

 private:
  bool has_kernels() const { return compute_type_ == torch::kFloat32 && has_decoding_kernel(embedding_); }

  /// A search that has read its sources [rows, time], all of one length.
  std::unique_ptr<DecoderState> read(const torch::Tensor& source, const torch::Tensor& lengths) {
    const CacheOptions options{.form = has_kernels() ? CacheForm::kCpu : CacheForm::kPlain};
    DecoderCache cache{.input = input_.start(options), .blocks = {}};
    for (const auto& block : blocks_) cache.blocks.push_back({.past = block->start(options), .source = nullptr});
    auto state = std::make_unique<CachedState>(lengths, std::move(cache));
    decode(*state, source);
    return state;
  }
  /// tokens int64 [rows, n] -> [rows, n, model]
  torch::Tensor decode(CachedState& state, const torch::Tensor& tokens) {
    const auto rows = state.advance(tokens.size(1));
    auto x = input_.step(tokens, embedding_, rows.positions, state.cache().input.get(), compute_type_);
    for (size_t i = 0; i < blocks_.size(); ++i) x = blocks_[i]->step(x, *state.cache().blocks[i].past, rows.positions);
    return norm_(x);
  }

  InputLayer input_;
  torch::Tensor embedding_;
  std::vector<std::shared_ptr<CausalBlock>> blocks_;
  LayerNorm norm_{nullptr};
  at::ScalarType compute_type_ = torch::kFloat32;
};

}  // namespace nmt
