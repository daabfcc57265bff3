#pragma once

#include <torch/types.h>

#include <functional>

#include "nn/attention/attention_options.h"

namespace nmt {

/// Queries, keys and values of the real tokens of all sentences, end to end.
struct PackedHeads {
  torch::Tensor q, k, v;                               ///< [tokens, heads, head_dim]
  torch::Tensor target_cu_seqlens, source_cu_seqlens;  ///< int32 [batch + 1], as PackedRows
  int64_t longest_target = 0, longest_source = 0;
  double dropout = 0;
  bool causal = false;
};

/// softmax(Q Kᵀ / sqrt(head_dim)) V of each sentence for itself: [target tokens, heads, head_dim].
using PackedAttentionKernel = std::function<torch::Tensor(const PackedHeads&)>;

/// Whether a GPU has a kernel for packed tokens (FlashAttention-2, Dao 2023, for 16 bits; memory-efficient attention,
/// Rabe and Staats 2021, for float32): features a head a multiple of 8 and at most 256, softmax of the usual scores,
/// more than one query a sentence (a step of a search has one, and nothing to pack). Not for float32 with dropout: on
/// packed tokens LibTorch's kernel drops other weights in its backward pass than in its forward pass, so that the
/// gradients are wrong (attention.cu, `max_seqlen_k = 0`; seen on a card, docs/gpu.md).
bool has_packed_attention(const torch::Tensor& q, const AttentionOptions& options, double dropout);
/// That kernel.
torch::Tensor gpu_packed_attention(const PackedHeads& heads);

/// attention() without work for padding: takes the real tokens out of q [batch, target, model] and k, v
/// [batch, source, model], runs `kernel` on them and puts what it gives back in its place; rows of padding are 0.
torch::Tensor packed_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                               const AttentionOptions& options, double dropout,
                               const PackedAttentionKernel& kernel = gpu_packed_attention);

}  // namespace nmt
