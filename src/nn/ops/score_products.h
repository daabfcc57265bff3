#pragma once

#include <torch/types.h>

namespace nmt {

/// What dot products and contexts are made of, by kernels on the CPU and by plain operations elsewhere. On the CPU a
/// row's result depends on no other row, nor on how far the keys are padded. With gradients.

/// queries [batch, target, size] · keys [batch, source, size] -> [batch, target, source], one type.
torch::Tensor dot_scores(const torch::Tensor& queries, const torch::Tensor& keys);
/// weights [batch, target, source], values [batch, source, size] -> [batch, target, size], one type.
torch::Tensor weighted_sums(const torch::Tensor& weights, const torch::Tensor& values);
/// bool [batch, 1, source] on the scores' device, true where a key of scores [batch, target, source] is padding.
torch::Tensor padding_mask(const torch::Tensor& lengths, const torch::Tensor& scores);
/// Softmax over each sentence's first lengths[b] scores: [batch, target, source] -> float32; the others get weight 0.
/// lengths int64 [batch] on the CPU.
torch::Tensor softmax_scores(const torch::Tensor& scores, const torch::Tensor& lengths);

}  // namespace nmt
