#include "models/transformer/transformer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "models/initial_values.h"
#include "models/transformer/deep_init.h"
#include "models/transformer/fixed_steps.h"
#include "models/transformer/transformer_state.h"
#include "nn/ops/kernel_support.h"
#include "nn/positions/positions.h"
#include "nn/scores/attention_heads.h"

namespace nmt {
namespace {

PositionOptions position_options(const ModelConfig& c) {
  return {.kind = c.positions,
          .sinusoid = c.sinusoid,
          .model = c.d_model,
          .heads = c.num_heads,
          .max_positions = c.max_positions,
          .max_distance = c.max_relative_distance,
          .buckets = c.relative_buckets};
}

BlockOptions block_options(const ModelConfig& c) {
  const MultiHeadAttentionImpl::Options attention{.model = c.d_model,
                                                  .heads = c.num_heads,
                                                  .key_value_heads = c.key_value_heads,
                                                  .dropout = c.attention_dropout_rate.value_or(c.dropout_rate),
                                                  .bias = c.attention_bias,
                                                  .output_projection = c.attention_output_projection,
                                                  .qkv_activation = parse_activation(c.qkv_activation),
                                                  .softmax = c.attention_normalization == "softmax"};
  return {.self_attention = attention,
          .cross_attention = attention,
          .feed_forward = {.model = c.d_model,
                           .inner = c.d_ff,
                           .activation = parse_activation(c.activation),
                           .gated = is_gated(c.activation),
                           .dropout = c.ffn_dropout_rate.value_or(c.dropout_rate)},
          .mixer = parse_mixer(c.decoder_mixer),
          .norm = c.norm == "pre" ? Norm::kPre : Norm::kPost,
          .norm_form = parse_norm_form(c.norm_form),
          .norm_epsilon = c.norm_epsilon,
          .residual_dropout = c.residual_dropout_rate.value_or(c.dropout_rate)};
}

// Options of the blocks of encoder or decoder, one after the other: what each has of its own are the scores of its
// attention and their names; positions may share the tables of the first block.
class BlockSeries {
 public:
  BlockSeries(const ModelConfig& config, const char* stack, bool two_sided)
      : options_(block_options(config)),
        positions_(position_options(config)),
        deep_init_(config, two_sided ? Stack::kEncoder : Stack::kDecoder),
        stack_(stack),
        score_(config.attention_score) {
    positions_.two_sided = two_sided;
    options_.residual_weight = deep_init_.residual_weight();
    options_.branch_gain = deep_init_.branch_gain();
  }

  BlockOptions next() {
    auto block = options_;
    block.initial_gain = deep_init_.block_gain(index_);
    block.self_attention.name = fmt::format("{}.{}.self", stack_, index_);
    block.cross_attention.name = fmt::format("{}.{}.cross", stack_, index_++);
    const int64_t head_dim = positions_.model / positions_.heads;
    block.cross_attention.scores = make_head_scores(score_, head_dim);
    const auto relative = make_relative_positions(positions_);
    if (relative && score_ != "scaled_dot")
      throw Error(
          fmt::format("model.attention_score: {} does not go with model.positions {}, which has a score of its own; "
                      "use scaled_dot, or "
                      "positions added to embeddings",
                      score_, positions_.kind));
    block.self_attention.scores = relative ? relative : make_head_scores(score_, head_dim);
    block.self_attention.owns_scores = !relative || relative != positions_.first_layer;
    if (!positions_.first_layer) positions_.first_layer = relative;
    return block;
  }

 private:
  BlockOptions options_;
  PositionOptions positions_;
  DeepInit deep_init_;
  std::string stack_, score_;
  int64_t index_ = 0;
};

}  // namespace

Transformer::Transformer(const ModelConfig& c, int64_t source_vocabulary, int64_t target_vocabulary)
    : tie_all_(c.tie_embeddings == "all"),
      tie_target_(c.tie_embeddings != "none"),
      zero_padding_row_(c.zero_padding_embedding) {
  const auto table = [&](const char* name, int64_t rows) {
    return register_parameter(name, torch::empty({rows, c.d_model}));
  };
  if (tie_all_) {
    if (source_vocabulary != target_vocabulary)
      throw Error(
          fmt::format("model.tie_embeddings: all shares one table, but the vocabularies have {} and {} entries; use a "
                      "joint vocabulary (data.joint_vocabulary) or tie_embeddings: target",
                      source_vocabulary, target_vocabulary));
    shared_embedding_ = table("embedding", source_vocabulary);
  } else {
    source_embedding_ = table("source_embedding", source_vocabulary);
    target_embedding_ = table("target_embedding", target_vocabulary);
    if (!tie_target_) output_weight_ = table("output_weight", target_vocabulary);
  }
  if (c.output_bias) output_bias_ = register_parameter("output_bias", torch::zeros({target_vocabulary}));

  const auto positions = [&](const char* name) {
    auto made = make_positions(position_options(c));
    return made ? register_module(name, made) : made;
  };
  const InputLayer::Options input{.dropout = c.input_dropout_rate.value_or(c.dropout_rate),
                                  .padding_row_is_constant = c.zero_padding_embedding,
                                  .positions_on_padding = !c.mask_padding_positions};
  source_input_ = std::make_unique<InputLayer>(input, positions("source_positions"));
  target_input_ = std::make_unique<InputLayer>(input, positions("target_positions"));

  BlockSeries encoder_blocks(c, "encoder", /*two_sided=*/true), decoder_blocks(c, "decoder", /*two_sided=*/false);
  for (int64_t i = 0; i < c.encoder_blocks.value_or(c.num_blocks); ++i)
    encoder_.push_back(register_module(fmt::format("encoder_{}", i), EncoderBlock(encoder_blocks.next())));
  for (int64_t i = 0; i < c.decoder_blocks.value_or(c.num_blocks); ++i)
    decoder_.push_back(register_module(fmt::format("decoder_{}", i), DecoderBlock(decoder_blocks.next())));
  if (c.norm == "pre" && c.final_norm) {
    encoder_norm_ = register_module("encoder_norm", LayerNorm(c.d_model, c.norm_epsilon, parse_norm_form(c.norm_form)));
    decoder_norm_ = register_module("decoder_norm", LayerNorm(c.d_model, c.norm_epsilon, parse_norm_form(c.norm_form)));
  }
}

Transformer::~Transformer() = default;

void Transformer::reset_parameters(const InitialValues& values, at::Generator& generator) {
  draw_embeddings({shared_embedding_, source_embedding_, target_embedding_}, zero_padding_row_, values, generator);
  if (output_weight_.defined()) values.matrices.draw(output_weight_, generator);
  if (output_bias_.defined()) output_bias_.zero_();
}

torch::Tensor Transformer::output_weight() const { return output_weight_.defined() ? output_weight_ : target_table(); }

void Transformer::finish_gradients() {
  if (!zero_padding_row_) return;
  for (auto* table : {&shared_embedding_, &source_embedding_, &target_embedding_})
    if (table->defined() && table->grad().defined()) table->grad()[0].zero_();
}

torch::Tensor Transformer::encode(const torch::Tensor& source, const torch::Tensor& lengths, ForwardContext& pass) {
  auto x = source_input_->forward(source, source_table(), compute_type_, pass);  // [batch, source, model]
  for (auto& block : encoder_) x = block(x, lengths, pass);
  return encoder_norm_ ? encoder_norm_(x) : x;
}

torch::Tensor Transformer::forward(const TensorBatch& batch, ForwardContext& pass) {
  const auto memory = encode(batch.source, batch.source_lengths, pass);
  auto x = target_input_->forward(batch.target_in, target_table(), compute_type_, pass);  // [batch, target, model]
  for (auto& block : decoder_) x = block(x, batch.target_lengths, memory, batch.source_lengths, pass);
  return decoder_norm_ ? decoder_norm_(x) : x;
}

bool Transformer::set_fixed_steps(bool fixed) {
  fixed_steps_.reset();
  const auto positions = target_input_->fixed_room();
  if (!fixed || positions == 0 || !std::ranges::all_of(decoder_, [](auto& block) { return block->has_fixed_step(); }))
    return false;
  fixed_steps_ = std::make_unique<FixedSteps>(
      [this](const auto& tokens, auto& input, auto& caches) { return decode_step(tokens, input, caches, {}); },
      positions);
  return true;
}

bool Transformer::can_join() const {
  return !fixed_steps_ && compute_type_ == torch::kFloat32 && has_decoding_kernel(target_table()) &&
         std::ranges::all_of(decoder_, [](const auto& block) { return block->takes_any_positions(); });
}

std::unique_ptr<DecoderState> Transformer::start(const torch::Tensor& source, const torch::Tensor& source_lengths) {
  ForwardContext no_dropout;
  const auto memory = encode(source, source_lengths, no_dropout);
  if (fixed_steps_) {
    std::vector<FixedKeyValues> memories;
    for (auto& block : decoder_) memories.push_back(block->project_fixed_memory(memory));
    return fixed_steps_->start(source_lengths, std::move(memories));
  }
  std::vector<BlockCache> caches;
  for (auto& block : decoder_)
    caches.push_back({.self = {}, .memories = {block->project_memory(memory)}, .fixed_memory = {}});
  return std::make_unique<TransformerState>(source_lengths, std::move(caches));
}

torch::Tensor Transformer::step(DecoderState& state, const torch::Tensor& tokens) {
  if (fixed_steps_) return step_logits(state, FixedSteps::step(state, tokens));
  auto& own = dynamic_cast<TransformerState&>(state);
  return step_logits(state, decode_step(tokens, own.input(), own.caches(), own.advance()));
}

torch::Tensor Transformer::decode_step(const torch::Tensor& tokens, MixerState& input, std::vector<BlockCache>& caches,
                                       const StepPlace& place) {
  auto x = target_input_->step(tokens, target_table(), place.positions, input, compute_type_);
  for (size_t i = 0; i < decoder_.size(); ++i) x = decoder_[i]->step(x, caches[i], place);
  return decoder_norm_ ? decoder_norm_(x) : x;
}

}  // namespace nmt
