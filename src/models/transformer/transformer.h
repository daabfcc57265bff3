#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "config/config.h"
#include "models/interface/model.h"
#include "models/transformer/decoder_states.h"
#include "models/transformer/transformer_blocks.h"
#include "nn/decode/key_value_cache.h"
#include "nn/layers/embedding.h"
#include "nn/layers/feed_forward.h"
#include "nn/ops/initial_values.h"
#include "nn/ops/layer_norm.h"
#include "nn/positions/positions.h"
#include "nn/scores/attention_score.h"

namespace nmt {

/// What makes parts of a Transformer in place of what its configuration names; null: the configuration. So a program
/// can try a part of its own that is not, or not yet, the choice of an option (docs/extending.md).
struct PartMakers {
  std::function<std::shared_ptr<Positions>(const PositionOptions& options)> positions = {};            ///< of each side
  std::function<std::shared_ptr<HeadScores>(const PositionOptions& options)> relative_positions = {};  ///< of a layer
  std::function<std::shared_ptr<AttentionScore>(const AttentionScoreOptions& options)> score = {};     ///< of a layer
  FeedForwardMaker feed_forward = {};                                                                  ///< of a block
};

/// The Transformer (Vaswani et al. 2017) and its variants: post- and pre-norm, every kind of positions, other scores
/// and mixers, with and without output projection of attention, three ways to share embeddings.
class Transformer final : public TranslationModel, public HasInitialValues {
 public:
  Transformer(const ModelConfig& config, int64_t source_vocabulary, int64_t target_vocabulary,
              const PartMakers& makers = {});

  torch::Tensor forward(const TensorBatch& batch, ForwardContext& pass) override;
  torch::Tensor output_weight() const override;
  torch::Tensor output_bias() const override;
  torch::Tensor encoder_output(const torch::Tensor& source, const torch::Tensor& source_lengths) override;
  torch::Tensor source_embeddings(const torch::Tensor& ids) override {
    return source_look_ups(source_table()).look_up(ids, -1);
  }
  std::unique_ptr<DecoderState> start(const torch::Tensor& source, const torch::Tensor& source_lengths) override;
  using TranslationModel::step;
  torch::Tensor step(DecoderState& state, const torch::Tensor& tokens, StepLogits which) override;
  DecodingCapabilities capabilities() const override;
  std::shared_ptr<const inference::TransformerWeights> inference_weights() override;
  void set_cache_form(CacheForm form) override;
  int64_t target_vocabulary() const override { return output_weight().size(0); }
  LengthLimits limits() const override {
    return {.source = source_input_->position_limit(), .target = target_input_->position_limit()};
  }
  void finish_gradients() override;
  void set_compute_type(at::ScalarType type) override { compute_type_ = type; }
  at::ScalarType compute_type() const override { return compute_type_; }
  void reset_parameters(const InitialValues& values, at::Generator& generator) override;

  /// What it is made of; null where a program has made parts of it.
  const ModelConfig* config() const { return config_ ? &*config_ : nullptr; }
  const torch::Tensor& target_embeddings() const { return target_table(); }  ///< [target vocabulary, model]

 private:
  const torch::Tensor& source_table() const;
  const torch::Tensor& target_table() const;
  torch::Tensor encode(const torch::Tensor& source, const torch::Tensor& lengths, ForwardContext& pass);
  /// Whether the CPU kernels of decoding compute a search that starts now.
  bool decodes_by_kernels() const;
  /// Tokens int64 [rows, n] -> the decoder's output [rows, n, model].
  torch::Tensor decode(const torch::Tensor& tokens, DecoderCache& cache, const StepRows& rows);

  std::optional<ModelConfig> config_;
  bool tie_all_, tie_target_, zero_padding_row_;
  at::ScalarType compute_type_ = torch::kFloat32;
  torch::Tensor shared_embedding_, source_embedding_, target_embedding_, output_weight_, output_bias_;
  std::unique_ptr<InputLayer> source_input_, target_input_;
  std::vector<EncoderBlock> encoder_;
  std::vector<DecoderBlock> decoder_;
  LayerNorm encoder_norm_{nullptr}, decoder_norm_{nullptr};  // pre-norm: after the last block
  CacheForm cache_form_ = CacheForm::kCpu;
  std::unique_ptr<StaticSteps> static_steps_;  // of CacheForm::kStatic
};

}  // namespace nmt
