#pragma once

#include <torch/nn/module.h>

#include "nn/attention.h"
#include "nn/feed_forward.h"
#include "nn/linear.h"
#include "nn/pass.h"

namespace nmt {

/// Keys and values of positions that later steps look at.
struct KeyValues {
  torch::Tensor keys, values;  ///< [batch, time, model]
};

/// Multi-head attention with its projections (Vaswani et al. 2017, sec. 3.2.2). Kyubyong's program leaves the output
/// projection away (output_projection false), the one of 2017 has a ReLU on queries, keys and values.
class MultiHeadAttentionImpl : public torch::nn::Module {
 public:
  struct Options {
    int64_t model = 512, heads = 8;
    double dropout = 0;  ///< of attention weights
    bool bias = true, output_projection = true;
    Activation qkv_activation = Activation::kNone;
  };
  explicit MultiHeadAttentionImpl(const Options& options);

  /// Self-attention: x [batch, time, model], lengths int64 [batch] on the CPU. Returns [batch, time, model].
  torch::Tensor forward_self(const torch::Tensor& x, const torch::Tensor& lengths, bool causal, Pass& pass);

  /// Attention of x [batch, target, model] to memory [batch, source, model].
  torch::Tensor forward_cross(const torch::Tensor& x, const torch::Tensor& target_lengths, const torch::Tensor& memory,
                              const torch::Tensor& source_lengths, Pass& pass);

  /// What a decoder keeps: the projections of positions x [..., model].
  KeyValues project_memory(const torch::Tensor& x);

  /// One decoding step: x [rows, model] against `memory`; memory_of_row and lengths as for attention_step(). [rows,
  /// model].
  torch::Tensor step(const torch::Tensor& x, const KeyValues& memory, const torch::Tensor& memory_of_row,
                     const torch::Tensor& lengths);

 private:
  torch::Tensor join(const torch::Tensor& context) { return options_.output_projection ? output_(context) : context; }
  torch::Tensor project(Linear& layer, const torch::Tensor& x) { return activate(layer(x), options_.qkv_activation); }
  /// Several projections of one x by one product: [batch, time, layers * model].
  torch::Tensor project_together(std::initializer_list<Linear> layers, const torch::Tensor& x);
  AttentionOptions attention_options(bool causal, const torch::Tensor& target_lengths,
                                     const torch::Tensor& source_lengths) const;

  Options options_;
  Linear query_{nullptr}, key_{nullptr}, value_{nullptr}, output_{nullptr};
};
TORCH_MODULE(MultiHeadAttention);

}  // namespace nmt
