#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/deep_init.h"
#include "config/kinds.h"
#include "nn/decode/key_value_cache.h"
#include "nn/inference/weights.h"
#include "nn/layers/feed_forward.h"
#include "nn/layers/gradient_checkpointing.h"
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
  /// Parameters that the block uses and another one has registered.
  std::vector<torch::Tensor> shared_parameters = {};

  /// What the block's layers start from.
  InitialValues initial_values(const InitialValues& of_model) const;
  /// A block without weights.
  inference::BlockWeights inference_form() const;
};

/// What the blocks of both sides have in common.
class TransformerBlock : public torch::nn::Module, public HasInitialValues, public CanCheckpoint, public AuxiliaryLoss {
 public:
  void set_checkpointing(bool on) override { checkpointing_ = on; }
  /// The loss of the layers inside, where the last forward pass went through checkpointed(); else they have it
  /// themselves.
  torch::Tensor take_auxiliary_loss() override;
  InitialValues initial_values_below(const torch::nn::Module& /*submodule*/,
                                     const InitialValues& values) const override {
    return options_.initial_values(values);
  }

 protected:
  explicit TransformerBlock(const BlockOptions& options) : options_(options) {}
  using Body = std::function<torch::Tensor(const std::vector<torch::Tensor>& inputs, ForwardContext& pass)>;
  /// body(inputs, pass) by checkpointed().
  torch::Tensor run_checkpointed(const Body& body, const std::vector<torch::Tensor>& inputs, ForwardContext& pass);

  BlockOptions options_;
  bool checkpointing_ = false;

 private:
  torch::Tensor auxiliary_loss_;
};

/// Self-attention and feed-forward net. x [batch, source, model], lengths int64 [batch] on the CPU.
class EncoderBlockImpl : public TransformerBlock {
 public:
  explicit EncoderBlockImpl(const BlockOptions& options);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& lengths, ForwardContext& pass);
  /// The block for searches without LibTorch. Throws inference::Unsupported.
  inference::BlockWeights inference_weights();

 private:
  torch::Tensor compute(torch::Tensor x, const torch::Tensor& lengths, ForwardContext& pass);

  MultiHeadAttention self_attention_{nullptr};
  std::shared_ptr<FeedForward> feed_forward_;
  LayerNorm self_attention_norm_{nullptr}, feed_forward_norm_{nullptr};
};
TORCH_MODULE(EncoderBlock);

/// Causal self-attention (or another mixer), attention to the encoder's output, feed-forward net. x [batch, target,
/// model].
class DecoderBlockImpl : public TransformerBlock {
 public:
  explicit DecoderBlockImpl(const BlockOptions& options);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& target_lengths, const torch::Tensor& memory,
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
  inference::BlockWeights inference_weights();  ///< as EncoderBlockImpl's
  DecodingCapabilities capabilities() const {
    return mixer_->capabilities() & cross_attention_->capabilities() & feed_forward_->capabilities();
  }

 private:
  torch::Tensor compute(torch::Tensor x, const torch::Tensor& target_lengths, const torch::Tensor& memory,
                        const torch::Tensor& source_lengths, ForwardContext& pass);

  std::shared_ptr<Mixer> mixer_;
  MultiHeadAttention cross_attention_{nullptr};
  std::shared_ptr<FeedForward> feed_forward_;
  LayerNorm mixer_norm_{nullptr}, cross_attention_norm_{nullptr}, feed_forward_norm_{nullptr};
};
TORCH_MODULE(DecoderBlock);

}  // namespace nmt
