#pragma once

#include <torch/types.h>

#include <functional>
#include <span>
#include <vector>

#include "nn/attention/head_scores.h"
#include "nn/ops/forward_context.h"

namespace nmt {

/// x [..., sum of sizes] in parts of so many columns, as views. Where the gradients of the parts lie side by side in
/// one tensor (new_columns()), that tensor is the gradient of x, and nothing is copied.
std::vector<torch::Tensor> split_columns(const torch::Tensor& x, const std::vector<int64_t>& sizes);

/// New tensors of the sizes and types of `parts`, not initialised: side by side in one tensor where the parts lie so,
/// else each of its own and contiguous.
std::vector<torch::Tensor> new_columns(const std::vector<torch::Tensor>& parts);

/// What attention may look at, how it scores it, and how its weights are dropped.
struct AttentionOptions {
  int64_t heads = 8;
  double dropout = 0;   ///< of attention weights, in training
  bool causal = false;  ///< row t looks at keys 0..t (target and source are then the same positions)
  /// int64 [batch] on the CPU: rows beyond are padding and get context 0; undefined = none.
  torch::Tensor target_lengths = {};
  /// int64 [batch] on the CPU: keys beyond are padding and get weight 0; undefined = none.
  torch::Tensor source_lengths = {};
  bool softmax = true;           ///< false: the scores themselves are the weights
  HeadScores* scores = nullptr;  ///< null: Q Kᵀ / sqrt(head_dim)
  int64_t first_query = 0;       ///< for `scores`: place of the first query
};

/// Query heads, and the heads of keys and values that groups of them share.
struct HeadCounts {
  int64_t query = 8, key_value = 8;
};

/// Each head of keys or values [batch, time, key_value heads * head_dim] once for each query head that looks at it.
torch::Tensor repeat_heads(const torch::Tensor& x, HeadCounts heads);

/// Multi-head scaled dot-product attention on ready queries, keys and values (Vaswani et al. 2017, sec. 3.2):
/// softmax(Q Kᵀ / sqrt(head_dim)) V, each head on its slice of the features.
/// q [batch, target, model]; k, v [batch, source, model]; the last axis contiguous, k and v with equal strides (slices
/// of a fused projection are fine). Returns [batch, target, model]. weights, where given, receives the attention
/// weights [batch, heads, target, source] before dropout. By a fused kernel where one fits: softmax of the usual
/// scores, no weights wanted, on the CPU the toolkit's own, on a GPU that of packed_attention().
torch::Tensor attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                        const AttentionOptions& options, ForwardContext& pass, torch::Tensor* weights = nullptr);

/// The same by plain tensor operations: any device, type and score; what the fused kernel is tested against.
torch::Tensor plain_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const AttentionOptions& options, ForwardContext& pass, torch::Tensor* weights = nullptr);

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
