#pragma once

#include <torch/types.h>

#include "nn/attention/attention_options.h"
#include "nn/ops/forward_context.h"

namespace nmt {

/// Multi-head scaled dot-product attention on ready queries, keys and values (Vaswani et al. 2017, sec. 3.2):
/// softmax(Q Kᵀ / sqrt(head_dim)) V, each head on its slice of the features.
/// q [batch, target, model]; k, v [batch, source, model]; the last axis contiguous, k and v with equal strides (slices
/// of a fused projection are fine). Returns [batch, target, model]. weights, where given, receives the attention
/// weights [batch, heads, target, source] before dropout. By a fused kernel where one fits: softmax of the usual
/// scores, no weights wanted, on the CPU the toolkit's own, on a GPU that of packed_attention.h.
torch::Tensor attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                        const AttentionOptions& options, ForwardContext& pass, torch::Tensor* weights = nullptr);

/// The same by plain tensor operations: any device, type and score; what the fused kernel is tested against.
torch::Tensor plain_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const AttentionOptions& options, ForwardContext& pass, torch::Tensor* weights = nullptr);

}  // namespace nmt
