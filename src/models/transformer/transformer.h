#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include <memory>
#include <span>
#include <vector>

#include "config/config.h"
#include "models/decoding/static_steps.h"
#include "models/interface/model.h"
#include "models/transformer/part_makers.h"
#include "nn/decode/decoder_cache.h"
#include "nn/layers/embedding.h"
#include "nn/layers/feed_forward.h"
#include "nn/layers/multi_head_attention.h"
#include "nn/ops/initial_values.h"
#include "nn/ops/layer_norm.h"

namespace nmt {

/// Sizes and places of one block, shared by encoder and decoder.
struct BlockOptions {
  MultiHeadAttentionImpl::Options self_attention, cross_attention;
  FeedForwardOptions feed_forward;
  FeedForwardMaker make_feed_forward = {};  ///< null: DenseFeedForward
  MixerKind mixer = MixerKind::kAttention;
  Norm norm = Norm::kPost;
  NormForm norm_form = NormForm::kLayer;
  double norm_epsilon = 1e-6;
  double residual_dropout = 0;
  double residual_weight = 1;  ///< of what runs past a sub-layer
  double initial_gain = 1;     ///< of every initial matrix
  double branch_gain = 1;      ///< InitialValues::branch_gain

  /// What the block's layers start from.
  InitialValues initial_values(const InitialValues& of_model) const;
};

/// Self-attention and feed-forward net. x [batch, source, model], lengths int64 [batch] on the CPU.
class EncoderBlockImpl : public torch::nn::Module, public HasInitialValues {
 public:
  explicit EncoderBlockImpl(const BlockOptions& options);
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& lengths, ForwardContext& pass);
  InitialValues initial_values_below(const torch::nn::Module& /*submodule*/,
                                     const InitialValues& values) const override {
    return options_.initial_values(values);
  }

 private:
  BlockOptions options_;
  MultiHeadAttention self_attention_{nullptr};
  std::shared_ptr<FeedForward> feed_forward_;
  LayerNorm self_attention_norm_{nullptr}, feed_forward_norm_{nullptr};
};
TORCH_MODULE(EncoderBlock);

/// Causal self-attention (or another mixer), attention to the encoder's output, feed-forward net. x [batch, target,
/// model].
class DecoderBlockImpl : public torch::nn::Module, public HasInitialValues {
 public:
  explicit DecoderBlockImpl(const BlockOptions& options);
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& target_lengths, const torch::Tensor& memory,
                        const torch::Tensor& source_lengths, ForwardContext& pass);
  /// The cache of the mixer for a search that starts.
  std::unique_ptr<LayerCache> start(const CacheOptions& options) const { return mixer_->start(options); }
  /// The same of cross-attention, of encoder outputs [sentences, source, model].
  std::unique_ptr<SourceCache> start_source(const torch::Tensor& memory, CacheForm form) {
    return cross_attention_->start_cross(memory, form);
  }
  StaticKeyValues project_static(const torch::Tensor& memory) { return cross_attention_->project_static(memory); }
  /// n tokens a row: x [rows, n, model]. What later steps need of them goes into the cache.
  torch::Tensor step(torch::Tensor x, BlockCache& cache, const StepRows& rows);
  DecodingCapabilities capabilities() const {
    return mixer_->capabilities() & cross_attention_->capabilities() & feed_forward_->capabilities();
  }
  InitialValues initial_values_below(const torch::nn::Module& /*submodule*/,
                                     const InitialValues& values) const override {
    return options_.initial_values(values);
  }

 private:
  BlockOptions options_;
  std::shared_ptr<Mixer> mixer_;
  MultiHeadAttention cross_attention_{nullptr};
  std::shared_ptr<FeedForward> feed_forward_;
  LayerNorm mixer_norm_{nullptr}, cross_attention_norm_{nullptr}, feed_forward_norm_{nullptr};
};
TORCH_MODULE(DecoderBlock);

/// The Transformer (Vaswani et al. 2017) and its variants: post- and pre-norm, every kind of positions, other scores
/// and mixers, with and without output projection of attention, three ways to share embeddings.
class Transformer final : public TranslationModel, public HasInitialValues {
 public:
  Transformer(const ModelConfig& config, int64_t source_vocabulary, int64_t target_vocabulary,
              const PartMakers& makers = {});

  torch::Tensor forward(const TensorBatch& batch, ForwardContext& pass) override;
  torch::Tensor output_weight() const override;
  torch::Tensor output_bias() const override { return output_bias_; }
  std::unique_ptr<DecoderState> start(const torch::Tensor& source, const torch::Tensor& source_lengths) override;
  using TranslationModel::step;
  torch::Tensor step(DecoderState& state, const torch::Tensor& tokens, StepLogits which) override;
  DecodingCapabilities capabilities() const override;
  void set_cache_form(CacheForm form) override;
  int64_t target_vocabulary() const override { return output_weight().size(0); }
  LengthLimits limits() const override {
    return {.source = source_input_->position_limit(), .target = target_input_->position_limit()};
  }
  void finish_gradients() override;
  void set_compute_type(at::ScalarType type) override { compute_type_ = type; }
  at::ScalarType compute_type() const override { return compute_type_; }
  void reset_parameters(const InitialValues& values, at::Generator& generator) override;

 private:
  const torch::Tensor& source_table() const { return tie_all_ ? shared_embedding_ : source_embedding_; }
  const torch::Tensor& target_table() const { return tie_all_ ? shared_embedding_ : target_embedding_; }
  torch::Tensor encode(const torch::Tensor& source, const torch::Tensor& lengths, ForwardContext& pass);
  /// Whether the CPU kernels of decoding compute a search that starts now.
  bool decodes_by_kernels() const;
  /// Tokens int64 [rows, n] -> the decoder's output [rows, n, model].
  torch::Tensor decode(const torch::Tensor& tokens, DecoderCache& cache, const StepRows& rows);

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
