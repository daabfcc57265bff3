#include "models/recurrent/recurrent_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "models/interface/model_initial_values.h"
#include "nn/device/cpu_kernels.h"
#include "nn/device/device.h"
#include "nn/layers/recurrent_cell.h"
#include "nn/ops/forward_context.h"
#include "nn/ops/initial_values.h"

namespace nmt {
namespace {

const std::string kAttentionName = "decoder.attention";

// Search state: the sentences, and which of them each row translates.
class RecurrentState final : public DecoderState {
 public:
  RecurrentState(RecurrentAttentionImpl::Memory memory, RecurrentDecoderImpl::State rows, int64_t sentences)
      : memory(std::move(memory)), state(std::move(rows)), sentences_(sentences) {
    sentence_of_row_ = torch::arange(sentences, torch::kInt64);
  }

  int64_t rows() const override { return sentence_of_row_.size(0); }

  void select(const torch::Tensor& rows) override {
    sentence_of_row_ = sentence_of_row_.index_select(0, rows);
    state.select(copy_to_device(rows, state.layers.front().state.device()));
    if (!memory.values.defined()) return;
    drop_finished_sentences();
    grid = SentenceRows(sentence_of_row_, sentences_);
  }

  RecurrentAttentionImpl::Memory memory;  // of sentences
  RecurrentDecoderImpl::State state;      // of rows
  SentenceRows grid;

 private:
  // Keys of sentences that no row translates any more are left out, once they are half of them.
  void drop_finished_sentences() {
    std::vector<int64_t> new_number(sentences_, -1), kept;
    auto* sentence = sentence_of_row_.mutable_data_ptr<int64_t>();
    for (int64_t r = 0; r < rows(); ++r) new_number[sentence[r]] = 0;
    for (int64_t i = 0; i < sentences_; ++i)
      if (new_number[i] == 0) new_number[i] = std::ssize(kept), kept.push_back(i);
    if (std::ssize(kept) * 2 > sentences_ || kept.empty()) return;
    for (int64_t r = 0; r < rows(); ++r) sentence[r] = new_number[sentence[r]];
    const auto chosen = torch::tensor(at::ArrayRef<int64_t>(kept), torch::kInt64);
    const auto on_device = copy_to_device(chosen, memory.values.device());
    const bool keys_are_values = memory.prepared.is_same(memory.values);
    memory.values = memory.values.index_select(0, on_device);
    memory.prepared = keys_are_values ? memory.values : memory.prepared.index_select(0, on_device);
    memory.lengths = memory.lengths.index_select(0, chosen);
    sentences_ = std::ssize(kept);
  }

  int64_t sentences_;
  torch::Tensor sentence_of_row_;  // int64 on the CPU
};

}  // namespace

RecurrentModel::RecurrentModel(const ModelConfig& c, int64_t source_vocabulary, int64_t target_vocabulary)
    : zero_padding_row_(c.zero_padding_embedding), embedding_dropout_(c.input_dropout_rate.value_or(c.dropout_rate)) {
  encoder_ = register_module("encoder", RecurrentEncoder(c));
  decoder_ = register_module("decoder", RecurrentDecoder(c, *encoder_));

  const int64_t embedding = c.embedding_size > 0 ? c.embedding_size : c.d_model, output = decoder_->output_size();
  const auto table = [&](const char* name, int64_t rows, int64_t columns) {
    return register_parameter(name, empty_parameter({rows, columns}));
  };
  if (c.tie_embeddings != TiedEmbeddings::kNone && output != embedding)
    throw Error(
        fmt::format("model.tie_embeddings: {} shares the output layer's table, but its input has {} features and "
                    "embeddings {}; use tie_embeddings: none, or readout: tanh with readout_size: {}",
                    c.tie_embeddings.name(), output, embedding, embedding));
  if (c.tie_embeddings == TiedEmbeddings::kAll) {
    if (source_vocabulary != target_vocabulary)
      throw Error(
          fmt::format("model.tie_embeddings: all shares one table, but the vocabularies have {} and {} entries; "
                      "use a joint vocabulary (data.joint_vocabulary) or tie_embeddings: target",
                      source_vocabulary, target_vocabulary));
    shared_embedding_ = table("embedding", source_vocabulary, embedding);
  } else {
    source_embedding_ = table("source_embedding", source_vocabulary, embedding);
    target_embedding_ = table("target_embedding", target_vocabulary, embedding);
    if (c.tie_embeddings == TiedEmbeddings::kNone) output_weight_ = table("output_weight", target_vocabulary, output);
  }
  if (c.output_bias) output_bias_ = register_parameter("output_bias", torch::zeros({target_vocabulary}));
}

void RecurrentModel::reset_parameters(const InitialValues& values, at::Generator& generator) {
  draw_embeddings({shared_embedding_, source_embedding_, target_embedding_}, zero_padding_row_, values, generator);
  if (output_weight_.defined()) values.matrices.draw(output_weight_, generator);
  if (output_bias_.defined()) values.draw_bias(output_bias_, output_weight().size(1), generator);
}

torch::Tensor RecurrentModel::output_weight() const {
  return output_weight_.defined() ? output_weight_ : target_table();
}

void RecurrentModel::finish_gradients() {
  if (!zero_padding_row_) return;
  for (auto* table : {&shared_embedding_, &source_embedding_, &target_embedding_})
    if (table->defined() && table->grad().defined()) table->grad()[0].zero_();
}

torch::Tensor RecurrentModel::embed(const torch::Tensor& ids, const EmbeddingTable& table, ForwardContext& pass) const {
  const int64_t padding = zero_padding_row_ ? 0 : -1;
  return dropout(table.look_up(ids, padding).to(compute_type_), embedding_dropout_, pass);
}

Encoded RecurrentModel::encode(const torch::Tensor& source, const torch::Tensor& lengths, ForwardContext& pass) {
  return encoder_(embed(source, source_look_ups(source_table()), pass), lengths, pass);
}

torch::Tensor RecurrentModel::encoder_output(const torch::Tensor& source, const torch::Tensor& source_lengths) {
  ForwardContext no_dropout;
  return encode(source, source_lengths, no_dropout).states;
}

torch::Tensor RecurrentModel::best_words(const torch::Tensor& advanced) {
  const torch::NoGradGuard no_grad;
  ForwardContext no_dropout;
  return logits(decoder_->finish(advanced, no_dropout)).argmax(-1);
}

torch::Tensor RecurrentModel::forward(const TensorBatch& batch, ForwardContext& pass) {
  const bool layers_have_their_own = encoder_->checkpointing() && pass.training();
  const StepwiseGradients stepwise(
      layers_have_their_own ? static_cast<torch::nn::Module&>(*decoder_) : static_cast<torch::nn::Module&>(*this),
      compute_type_);
  const auto encoded = encode(batch.source, batch.source_lengths, pass);
  const auto memory = decoder_->prepare(encoded);
  auto state = decoder_->first_state(encoded);
  const SentenceRows one_row_a_sentence;
  const auto reference =
      embed(batch.target_in.t(), target_look_ups(target_table()), pass).unbind(0);  // [target][batch, embedding]
  std::vector<torch::Tensor> advanced, maps;
  for (size_t t = 0; t < reference.size(); ++t) {
    const bool own_choice = t > 0 && pass.feeds_own_choice();
    const auto e =
        own_choice ? embed(best_words(advanced.back()), target_look_ups(target_table()), pass) : reference[t];
    torch::Tensor weights;
    advanced.push_back(decoder_->advance(e, state, memory, one_row_a_sentence, pass, &weights));
    if (pass.records_attention(kAttentionName) && weights.defined()) maps.push_back(weights);
  }
  if (!maps.empty()) pass.record(kAttentionName, torch::stack(maps, 1).unsqueeze(1));
  return decoder_->finish(torch::stack(advanced, 1), pass);  // [batch, target, output]
}

std::unique_ptr<DecoderState> RecurrentModel::start(const torch::Tensor& source, const torch::Tensor& source_lengths) {
  ForwardContext no_dropout;
  const auto encoded = encode(source, source_lengths, no_dropout);
  return std::make_unique<RecurrentState>(decoder_->prepare(encoded), decoder_->first_state(encoded), source.size(0));
}

torch::Tensor RecurrentModel::step(DecoderState& state, const torch::Tensor& tokens_of_rows, StepLogits which) {
  auto& own = dynamic_cast<RecurrentState&>(state);
  const auto tokens = tokens_of_rows.dim() == 1 ? tokens_of_rows.unsqueeze(1) : tokens_of_rows;  // [rows, n]
  ForwardContext no_dropout;
  std::vector<torch::Tensor> outputs;
  for (const auto& next : tokens.unbind(1)) {
    const auto e = embed(next, target_look_ups(target_table()), no_dropout);
    const auto advanced = decoder_->advance(e, own.state, own.memory, own.grid, no_dropout);
    outputs.push_back(decoder_->finish(advanced, no_dropout).unsqueeze(1));
  }
  return step_logits(state, outputs.size() == 1 ? outputs.front() : torch::cat(outputs, 1), which);
}

DecodingCapabilities RecurrentModel::capabilities() const {
  return {.exact_prefill =
              compute_type_ == torch::kFloat32 && !torch::GradMode::is_enabled() && target_table().device().is_cpu()};
}

}  // namespace nmt
