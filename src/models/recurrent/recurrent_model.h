#pragma once

#include <memory>

#include "config/config.h"
#include "models/interface/model.h"
#include "models/recurrent/recurrent_parts.h"
#include "nn/ops/initial_values.h"

namespace nmt {

/// Recurrent encoder-decoder with attention or without (Cho et al. 2014, Bahdanau et al. 2015, Luong et al. 2015):
/// RecurrentEncoder, RecurrentDecoder, and embeddings of their own, shared, or shared with the output layer too where
/// sizes allow. Dropout: of embeddings (model.input_dropout_rate), between layers and before the output layer
/// (residual_dropout_rate), of attention weights (attention_dropout_rate).
class RecurrentModel final : public TranslationModel, public HasInitialValues {
 public:
  RecurrentModel(const ModelConfig& config, int64_t source_vocabulary, int64_t target_vocabulary);

  torch::Tensor forward(const TensorBatch& batch, ForwardContext& pass) override;
  torch::Tensor output_weight() const override;
  torch::Tensor output_bias() const override { return output_bias_; }
  torch::Tensor encoder_output(const torch::Tensor& source, const torch::Tensor& source_lengths) override;
  torch::Tensor source_embeddings(const torch::Tensor& ids) override {
    return source_look_ups(source_table()).look_up(ids, -1);
  }
  std::unique_ptr<DecoderState> start(const torch::Tensor& source, const torch::Tensor& source_lengths) override;
  using TranslationModel::step;
  torch::Tensor step(DecoderState& state, const torch::Tensor& tokens, StepLogits which) override;
  DecodingCapabilities capabilities() const override;
  int64_t target_vocabulary() const override { return output_weight().size(0); }
  LengthLimits limits() const override { return {.source = decoder_->max_source()}; }
  void finish_gradients() override;
  void set_compute_type(at::ScalarType type) override { compute_type_ = type; }
  at::ScalarType compute_type() const override { return compute_type_; }
  void reset_parameters(const InitialValues& values, at::Generator& generator) override;

 private:
  const torch::Tensor& source_table() const {
    return shared_embedding_.defined() ? shared_embedding_ : source_embedding_;
  }
  const torch::Tensor& target_table() const {
    return shared_embedding_.defined() ? shared_embedding_ : target_embedding_;
  }
  /// ids [...] -> [..., embedding] in the compute type.
  torch::Tensor embed(const torch::Tensor& ids, const EmbeddingTable& table, ForwardContext& pass) const;
  Encoded encode(const torch::Tensor& source, const torch::Tensor& lengths, ForwardContext& pass);
  /// The model's own choice of the next word: int64 [rows].
  torch::Tensor best_words(const torch::Tensor& advanced);

  bool zero_padding_row_;
  double embedding_dropout_;
  at::ScalarType compute_type_ = torch::kFloat32;
  torch::Tensor shared_embedding_, source_embedding_, target_embedding_, output_weight_, output_bias_;
  RecurrentEncoder encoder_{nullptr};
  RecurrentDecoder decoder_{nullptr};
};

}  // namespace nmt
