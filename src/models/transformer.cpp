#include "models/transformer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace nmt {
namespace {

BlockOptions block_options(const ModelConfig& c) {
  return {.attention = {.model = c.d_model,
                        .heads = c.num_heads,
                        .dropout = c.attention_dropout_rate.value_or(c.dropout_rate),
                        .bias = c.attention_bias,
                        .output_projection = c.attention_output_projection,
                        .qkv_activation = parse_activation(c.qkv_activation)},
          .feed_forward = {.model = c.d_model,
                           .inner = c.d_ff,
                           .activation = parse_activation(c.activation),
                           .dropout = c.ffn_dropout_rate.value_or(c.dropout_rate)},
          .norm = c.norm == "pre" ? Norm::kPre : Norm::kPost,
          .norm_epsilon = c.norm_epsilon,
          .residual_dropout = c.residual_dropout_rate.value_or(c.dropout_rate)};
}

// Search state: caches a block, and which sentence each row translates.
class TransformerState final : public DecoderState {
 public:
  TransformerState(torch::Tensor source_lengths, std::vector<BlockCache> caches)
      : source_lengths_(std::move(source_lengths)), caches_(std::move(caches)) {
    sentence_of_row_ = torch::arange(source_lengths_.size(0), torch::kInt64);
  }

  int64_t rows() const override { return sentence_of_row_.size(0); }

  void select(const torch::Tensor& rows) override {
    sentence_of_row_ = sentence_of_row_.index_select(0, rows);
    if (position_ == 0) return;
    const auto on_device = rows.to(caches_.front().memory.keys.device());
    for (auto& cache : caches_) {
      cache.self.keys = cache.self.keys.index_select(0, on_device);
      cache.self.values = cache.self.values.index_select(0, on_device);
    }
  }

  /// Makes room for one more position and says where it is.
  StepPlace advance() {
    reserve();
    const int64_t position = position_++;
    return {position, torch::full({rows()}, position + 1, torch::kInt64), sentence_of_row_, source_lengths_};
  }
  std::vector<BlockCache>& caches() { return caches_; }

 private:
  void reserve() {
    const auto& memory = caches_.front().memory.keys;
    const int64_t capacity = position_ == 0 ? 0 : caches_.front().self.keys.size(1);
    if (position_ < capacity) return;
    const int64_t wanted = std::max<int64_t>(16, capacity * 2);
    const auto grow = [&](torch::Tensor& x) {
      auto wider = torch::zeros({rows(), wanted, memory.size(2)}, memory.options());
      if (position_ > 0) wider.narrow(1, 0, position_).copy_(x.narrow(1, 0, position_));
      x = wider;
    };
    for (auto& cache : caches_) grow(cache.self.keys), grow(cache.self.values);
  }

  torch::Tensor source_lengths_, sentence_of_row_;
  std::vector<BlockCache> caches_;
  int64_t position_ = 0;
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
    auto made = make_positions(c.positions, c.sinusoid, c.d_model, c.max_positions);
    return made && !made->parameters().empty() ? register_module(name, made) : made;
  };
  const InputLayer::Options input{.dropout = c.input_dropout_rate.value_or(c.dropout_rate),
                                  .padding_row_is_constant = c.zero_padding_embedding,
                                  .positions_on_padding = !c.mask_padding_positions};
  source_input_ = std::make_unique<InputLayer>(input, positions("source_positions"));
  target_input_ = std::make_unique<InputLayer>(input, positions("target_positions"));

  const auto options = block_options(c);
  for (int64_t i = 0; i < c.encoder_blocks.value_or(c.num_blocks); ++i)
    encoder_.push_back(register_module(fmt::format("encoder_{}", i), EncoderBlock(options)));
  for (int64_t i = 0; i < c.decoder_blocks.value_or(c.num_blocks); ++i)
    decoder_.push_back(register_module(fmt::format("decoder_{}", i), DecoderBlock(options)));
  if (c.norm == "pre" && c.final_norm) {
    encoder_norm_ = register_module("encoder_norm", LayerNorm(c.d_model, c.norm_epsilon));
    decoder_norm_ = register_module("decoder_norm", LayerNorm(c.d_model, c.norm_epsilon));
  }
}

torch::Tensor Transformer::output_weight() const { return output_weight_.defined() ? output_weight_ : target_table(); }

void Transformer::finish_gradients() {
  if (!zero_padding_row_) return;
  for (auto* table : {&shared_embedding_, &source_embedding_, &target_embedding_})
    if (table->defined() && table->grad().defined()) table->grad()[0].zero_();
}

torch::Tensor Transformer::encode(const torch::Tensor& source, const torch::Tensor& lengths, Pass& pass) {
  auto x = source_input_->forward(source, source_table(), compute_type_, pass);  // [batch, source, model]
  for (auto& block : encoder_) x = block(x, lengths, pass);
  return encoder_norm_ ? encoder_norm_(x) : x;
}

torch::Tensor Transformer::forward(const TensorBatch& batch, Pass& pass) {
  const auto memory = encode(batch.source, batch.source_lengths, pass);
  auto x = target_input_->forward(batch.target_in, target_table(), compute_type_, pass);  // [batch, target, model]
  for (auto& block : decoder_) x = block(x, batch.target_lengths, memory, batch.source_lengths, pass);
  return decoder_norm_ ? decoder_norm_(x) : x;
}

std::unique_ptr<DecoderState> Transformer::start(const torch::Tensor& source, const torch::Tensor& source_lengths) {
  Pass no_dropout;
  const auto memory = encode(source, source_lengths, no_dropout);
  std::vector<BlockCache> caches;
  for (auto& block : decoder_) caches.push_back({.self = {}, .memory = block->project_memory(memory)});
  return std::make_unique<TransformerState>(source_lengths, std::move(caches));
}

torch::Tensor Transformer::step(DecoderState& state, const torch::Tensor& tokens) {
  auto& own = dynamic_cast<TransformerState&>(state);
  const auto place = own.advance();
  auto x = target_input_->step(tokens, target_table(), place.position, compute_type_);  // [rows, model]
  for (size_t i = 0; i < decoder_.size(); ++i) x = decoder_[i]->step(x, own.caches()[i], place);
  if (decoder_norm_) x = decoder_norm_(x);
  return linear(x, output_weight(), output_bias_, packed_output_).to(torch::kFloat32);
}

}  // namespace nmt
