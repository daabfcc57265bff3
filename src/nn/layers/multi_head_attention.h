#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <span>
#include <string>

#include "nn/attention/attention.h"
#include "nn/decode/key_value_cache.h"
#include "nn/decode/layer_cache.h"
#include "nn/ops/activation.h"
#include "nn/ops/forward_context.h"
#include "nn/ops/initial_values.h"
#include "nn/ops/linear.h"

namespace nmt {

/// Multi-head attention with its projections (Vaswani et al. 2017, sec. 3.2.2). Kyubyong's program leaves the output
/// projection away (output_projection false), the one of 2017 has a ReLU on queries, keys and values. With fewer heads
/// of keys and values, groups of query heads share them (Shazeer 2019, Ainslie et al. 2023). As a Mixer: the decoder's
/// self-attention, causal, whose state are the keys and values so far.
class MultiHeadAttentionImpl : public Mixer, public KeepsPackedWeights, public HasInitialValues {
 public:
  struct Options {
    int64_t model = 512, heads = 8;
    int64_t key_value_heads = 0;  ///< 0 = heads
    double dropout = 0;           ///< of attention weights
    bool bias = true, output_projection = true;
    Activation qkv_activation = Activation::kNone;
    bool softmax = true;                           ///< false: the scores themselves are the weights
    std::shared_ptr<HeadScores> scores = nullptr;  ///< null: the usual ones
    bool owns_scores = true;                       ///< false: another layer has registered them
    std::string name = {};                         ///< of recorded weights, such as encoder.0.self
  };
  explicit MultiHeadAttentionImpl(const Options& options);

  /// Self-attention: x [batch, time, model], lengths int64 [batch] on the CPU; plus `residual` [batch, time, model]
  /// (undefined: nothing). Returns [batch, time, model].
  torch::Tensor forward_self(const torch::Tensor& x, const torch::Tensor& lengths, bool causal, ForwardContext& pass,
                             const torch::Tensor& residual = {});

  /// Attention of x [batch, target, model] to memory [batch, source, model].
  torch::Tensor forward_cross(const torch::Tensor& x, const torch::Tensor& target_lengths, const torch::Tensor& memory,
                              const torch::Tensor& source_lengths, ForwardContext& pass);

  /// What a search keeps of encoder outputs [sentences, source, model] for step_cross().
  std::unique_ptr<SourceCache> start_cross(const torch::Tensor& memory, CacheForm form);
  /// The same for static caches: keys and values of the sentences; `visible` stays undefined.
  StaticKeyValues project_static(const torch::Tensor& memory);
  /// One decoding step: x [rows, n, model] against encoder outputs, as of SourceCache; plus `residual`, of x's shape
  /// (undefined: nothing). Returns x's shape.
  torch::Tensor step_cross(const torch::Tensor& x, SourceCache& source, std::span<const SourcePlace> places,
                           const torch::Tensor& residual);

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& lengths, ForwardContext& pass) override;
  std::unique_ptr<LayerCache> start(const CacheOptions& options) const override;
  torch::Tensor step(const torch::Tensor& x, LayerCache& cache, const RowPositions& positions,
                     const torch::Tensor& residual) override;
  DecodingCapabilities capabilities() const override;
  inference::MixerWeights inference_weights() override { return self_attention_weights(); }
  /// The layer for searches without LibTorch, as self-attention and as cross-attention. Throw inference::Unsupported.
  inference::AttentionWeights self_attention_weights();
  inference::AttentionWeights cross_attention_weights();
  /// Keys and values that decoding keeps are bfloat16 where weights are held in less than float32.
  void set_packing(const Packing& packing) override;
  InitialValues initial_values_below(const torch::nn::Module& submodule, const InitialValues& values) const override;

 private:
  /// Several projections of one x by one product, side by side: [..., sizes of the layers].
  torch::Tensor project_together(std::initializer_list<Linear> layers, const torch::Tensor& x);
  torch::Tensor project(Linear& layer, const torch::Tensor& x);
  torch::Tensor transform(const torch::Tensor& x, int64_t first);
  /// Ready queries, keys and values -> context.
  torch::Tensor attend(const torch::Tensor& q, const KeyValues& kv, AttentionOptions options, ForwardContext& pass);
  /// Context -> result of the layer.
  torch::Tensor join(const torch::Tensor& context, const torch::Tensor& residual);
  /// Transforms the queries and keys of a step, side by side [rows, n, ...], in place.
  void transform_step(torch::Tensor qkv, const RowPositions& positions);
  inference::AttentionWeights attention_weights();  // but for `query` and `together`
  bool fits_kernel() const;
  AttentionForm form() const;
  HeadCounts heads() const;
  int64_t key_size() const;

  Options options_;
  int64_t groups_ = 1;  // query heads for each head of keys and values
  Linear query_{nullptr}, key_{nullptr}, value_{nullptr}, output_{nullptr};
  at::ScalarType cache_type_ = torch::kFloat32;  // of the CPU form
  PackedMatrix packed_together_;  // of project_together(), which an instance calls for the same layers only
};
TORCH_MODULE(MultiHeadAttention);

}  // namespace nmt
