#include "models/transformer/transformer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "models/interface/model_initial_values.h"
#include "models/transformer/decoder_states.h"
#include "models/transformer/transformer_blocks.h"
#include "nn/device/cpu_kernels.h"
#include "nn/ops/initial_values.h"
#include "nn/positions/positions.h"
#include "nn/scores/attention_score.h"

namespace nmt {
namespace {

PositionOptions position_options(const ModelConfig& c) {
  return {.kind = c.positions,
          .sinusoid = c.sinusoid,
          .model = c.d_model,
          .heads = c.num_heads,
          .max_positions = c.max_positions,
          .max_distance = c.max_relative_distance,
          .buckets = c.relative_buckets,
          .product_form = c.product_form,
          .convolution_width = c.convolution_width};
}

BlockOptions block_options(const ModelConfig& c) {
  const MultiHeadAttentionImpl::Options attention{
      .model = c.d_model,
      .heads = c.num_heads,
      .key_value_heads = c.key_value_heads,
      .dropout = c.attention_dropout_rate.value_or(c.dropout_rate),
      .bias = c.attention_bias,
      .output_projection = c.attention_output_projection,
      .qkv_activation = activation_of(c.qkv_activation),
      .softmax = c.attention_normalization == AttentionNormalization::kSoftmax};
  return {.self_attention = attention,
          .cross_attention = attention,
          .feed_forward = {.model = c.d_model,
                           .inner = c.d_ff,
                           .activation = activation_of(c.activation),
                           .gated = is_gated(c.activation),
                           .dropout = c.ffn_dropout_rate.value_or(c.dropout_rate)},
          .mixer = c.decoder_mixer,
          .norm = c.norm,
          .norm_form = c.norm_form,
          .norm_epsilon = c.norm_epsilon,
          .residual_dropout = c.residual_dropout_rate.value_or(c.dropout_rate)};
}

// Options of the blocks of encoder or decoder, one after the other: what each has of its own are the scores of its
// attention and their names; positions may share the tables of the first block.
class BlockSeries {
 public:
  BlockSeries(const ModelConfig& config, const PartMakers& makers, const char* stack, bool two_sided)
      : options_(block_options(config)),
        makers_(makers),
        positions_(position_options(config)),
        deep_init_(config, two_sided ? Stack::kEncoder : Stack::kDecoder),
        stack_(stack),
        score_(config.attention_score) {
    positions_.two_sided = two_sided;
    options_.make_feed_forward = makers.feed_forward;
    options_.residual_weight = deep_init_.residual_weight();
    options_.branch_gain = deep_init_.branch_gain();
  }

  BlockOptions next() {
    auto block = options_;
    block.initial_gain = deep_init_.block_gain(index_);
    block.self_attention.name = fmt::format("{}.{}.self", stack_, index_);
    block.cross_attention.name = fmt::format("{}.{}.cross", stack_, index_++);
    block.cross_attention.scores = head_scores();
    const auto relative =
        makers_.relative_positions ? makers_.relative_positions(positions_) : make_relative_positions(positions_);
    if (relative && score_ != AttentionScoreKind::kScaledDot)
      throw Error(
          fmt::format("model.attention_score: {} does not go with model.positions {}, which has a score of its own; "
                      "use scaled_dot, or "
                      "positions added to embeddings",
                      name_of(score_), positions_.kind.name()));
    block.self_attention.scores = relative ? relative : head_scores();
    block.self_attention.owns_scores = !relative || relative != positions_.first_layer;
    if (positions_.first_layer) block.shared_parameters = positions_.first_layer->parameters();
    if (!positions_.first_layer) positions_.first_layer = relative;
    return block;
  }

 private:
  std::shared_ptr<HeadScores> head_scores() const {
    const int64_t head_dim = positions_.model / positions_.heads;
    if (!makers_.score) return make_head_scores(score_, head_dim);
    return fold_heads("own", makers_.score({.query = head_dim, .key = head_dim, .inner = head_dim}));
  }

  BlockOptions options_;
  const PartMakers& makers_;
  PositionOptions positions_;
  DeepInit deep_init_;
  std::string stack_;
  AttentionScoreKind score_;
  int64_t index_ = 0;
};

}  // namespace

Transformer::Transformer(const ModelConfig& c, int64_t source_vocabulary, int64_t target_vocabulary,
                         const PartMakers& makers)
    : tie_all_(c.tie_embeddings == TiedEmbeddings::kAll),
      tie_target_(c.tie_embeddings != TiedEmbeddings::kNone),
      zero_padding_row_(c.zero_padding_embedding) {
  const auto table = [&](const char* name, int64_t rows) {
    return register_parameter(name, empty_parameter({rows, c.d_model}));
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
  const bool has_own_parts = makers.positions || makers.relative_positions || makers.score || makers.feed_forward;
  if (!has_own_parts) config_ = c;
  if (c.output_bias) output_bias_ = register_parameter("output_bias", torch::zeros({target_vocabulary}));

  const auto positions = [&](const char* name) {
    auto made = makers.positions ? makers.positions(position_options(c)) : make_positions(position_options(c));
    return made ? register_module(name, made) : made;
  };
  const InputLayer::Options input{.dropout = c.input_dropout_rate.value_or(c.dropout_rate),
                                  .padding_row_is_constant = c.zero_padding_embedding,
                                  .positions_on_padding = !c.mask_padding_positions};
  source_input_ = std::make_unique<InputLayer>(input, positions("source_positions"));
  target_input_ = std::make_unique<InputLayer>(input, positions("target_positions"));

  BlockSeries encoder_blocks(c, makers, "encoder", /*two_sided=*/true);
  BlockSeries decoder_blocks(c, makers, "decoder", /*two_sided=*/false);
  for (int64_t i = 0; i < c.encoder_blocks.value_or(c.num_blocks); ++i)
    encoder_.push_back(register_module(fmt::format("encoder_{}", i), EncoderBlock(encoder_blocks.next())));
  for (int64_t i = 0; i < c.decoder_blocks.value_or(c.num_blocks); ++i)
    decoder_.push_back(register_module(fmt::format("decoder_{}", i), DecoderBlock(decoder_blocks.next())));
  if (c.norm == Norm::kPre && c.final_norm) {
    encoder_norm_ = register_module("encoder_norm", LayerNorm(c.d_model, c.norm_epsilon, c.norm_form));
    decoder_norm_ = register_module("decoder_norm", LayerNorm(c.d_model, c.norm_epsilon, c.norm_form));
  }
}

void Transformer::reset_parameters(const InitialValues& values, at::Generator& generator) {
  draw_embeddings({shared_embedding_, source_embedding_, target_embedding_}, zero_padding_row_, values, generator);
  if (output_weight_.defined()) values.matrices.draw(output_weight_, generator);
  if (output_bias_.defined()) values.draw_bias(output_bias_, output_weight().size(1), generator);
}

const torch::Tensor& Transformer::source_table() const { return tie_all_ ? shared_embedding_ : source_embedding_; }
const torch::Tensor& Transformer::target_table() const { return tie_all_ ? shared_embedding_ : target_embedding_; }

torch::Tensor Transformer::output_bias() const { return output_bias_; }
torch::Tensor Transformer::output_weight() const { return output_weight_.defined() ? output_weight_ : target_table(); }

void Transformer::finish_gradients() {
  if (!zero_padding_row_) return;
  for (auto* table : {&shared_embedding_, &source_embedding_, &target_embedding_})
    if (table->defined() && table->grad().defined()) table->grad()[0].zero_();
}

torch::Tensor Transformer::encode(const torch::Tensor& source, const torch::Tensor& lengths, ForwardContext& pass) {
  auto x =
      source_input_->forward(source, source_look_ups(source_table()), compute_type_, pass);  // [batch, source, model]
  for (auto& block : encoder_) x = block(x, lengths, pass);
  return encoder_norm_ ? encoder_norm_(x) : x;
}

torch::Tensor Transformer::encoder_output(const torch::Tensor& source, const torch::Tensor& source_lengths) {
  ForwardContext no_dropout;
  return encode(source, source_lengths, no_dropout);
}

torch::Tensor Transformer::forward(const TensorBatch& batch, ForwardContext& pass) {
  const auto memory = encode(batch.source, batch.source_lengths, pass);
  auto x = target_input_->forward(batch.target_in, target_look_ups(target_table()), compute_type_,
                                  pass);  // [batch, target, model]
  for (auto& block : decoder_) x = block(x, batch.target_lengths, memory, batch.source_lengths, pass);
  return decoder_norm_ ? decoder_norm_(x) : x;
}

bool Transformer::decodes_by_kernels() const {
  return compute_type_ == torch::kFloat32 && !torch::GradMode::is_enabled() && target_table().device().is_cpu();
}

DecodingCapabilities Transformer::capabilities() const {
  auto all = target_input_->capabilities();
  for (const auto& block : decoder_) all = all & block->capabilities();
  const bool kernels = decodes_by_kernels();
  all.ragged_positions = all.ragged_positions && kernels && cache_form_ == CacheForm::kCpu;
  all.exact_prefill = all.exact_prefill && (kernels || cache_form_ == CacheForm::kStatic);
  return all;
}

std::shared_ptr<const inference::TransformerWeights> Transformer::inference_weights() {
  if (!decodes_by_kernels() || cache_form_ != CacheForm::kCpu)
    throw inference::Unsupported("a device, a type or a cache that the CPU kernels of decoding do not take");
  auto weights = std::make_shared<inference::TransformerWeights>();
  weights->model = target_table().size(1);
  weights->encoder.input = source_input_->inference_weights(source_look_ups(source_table()));
  weights->decoder.input = target_input_->inference_weights(target_look_ups(target_table()));
  for (auto& block : encoder_) weights->encoder.blocks.push_back(block->inference_weights());
  for (auto& block : decoder_) weights->decoder.blocks.push_back(block->inference_weights());
  if (encoder_norm_) weights->encoder.norm = encoder_norm_->inference_weights();
  if (decoder_norm_) weights->decoder.norm = decoder_norm_->inference_weights();
  weights->output = output_map();
  return weights;
}

void Transformer::set_cache_form(CacheForm form) {
  static_steps_.reset();
  if (form == CacheForm::kStatic) {
    const int64_t positions = capabilities().static_positions;
    TORCH_CHECK(positions > 0, "a part of this model has no static cache");
    const auto start = [this](const CacheOptions& options) {
      DecoderCache cache{.input = target_input_->start(options), .blocks = {}};
      for (const auto& block : decoder_) cache.blocks.push_back({.past = block->start(options), .source = nullptr});
      return cache;
    };
    const auto step = [this](const torch::Tensor& tokens, DecoderCache& cache) { return decode(tokens, cache, {}); };
    static_steps_ = std::make_unique<StaticSteps>(StaticDecoder{start, step, positions});
  }
  cache_form_ = form;
}

std::unique_ptr<DecoderState> Transformer::start(const torch::Tensor& source, const torch::Tensor& source_lengths) {
  ForwardContext no_dropout;
  const auto memory = encode(source, source_lengths, no_dropout);
  if (static_steps_) {
    std::vector<StaticKeyValues> sentences;
    for (auto& block : decoder_) sentences.push_back(block->project_static(memory));
    return static_steps_->start(source_lengths, std::move(sentences));
  }
  const bool kernels = cache_form_ == CacheForm::kCpu && decodes_by_kernels();
  const CacheOptions options{.form = kernels ? CacheForm::kCpu : CacheForm::kPlain};
  DecoderCache cache{.input = target_input_->start(options), .blocks = {}};
  for (auto& block : decoder_)
    cache.blocks.push_back({.past = block->start(options), .source = block->start_source(memory, options.form)});
  return std::make_unique<CachedState>(source_lengths, std::move(cache));
}

torch::Tensor Transformer::step(DecoderState& state, const torch::Tensor& tokens_of_rows, StepLogits which) {
  const auto tokens = tokens_of_rows.dim() == 1 ? tokens_of_rows.unsqueeze(1) : tokens_of_rows;  // [rows, n]
  if (static_steps_) return step_logits(state, StaticSteps::step(state, tokens), which);
  auto& own = dynamic_cast<CachedState&>(state);
  return step_logits(state, decode(tokens, own.cache(), own.advance(tokens.size(1))), which);
}

torch::Tensor Transformer::decode(const torch::Tensor& tokens, DecoderCache& cache, const StepRows& rows) {
  auto x =
      target_input_->step(tokens, target_look_ups(target_table()), rows.positions, cache.input.get(), compute_type_);
  for (size_t i = 0; i < decoder_.size(); ++i) x = decoder_[i]->step(x, cache.blocks[i], rows);
  return decoder_norm_ ? decoder_norm_(x) : x;
}

}  // namespace nmt
