#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <string>

#include "nn/inference/weights.h"
#include "nn/ops/initial_values.h"

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

/// Where an attention layer departs from softmax(Q Kᵀ / sqrt(head_dim)) V, head by head: relative positions, other
/// score functions. Queries stand at places first_query .. first_query + target - 1 of the sentence, keys at 0 ..
/// source - 1; in training first_query is 0, in decoding the one query stands at the last key. Tensors have the type of
/// the activations.
class HeadScores : public torch::nn::Module, public HasInitialValues {
 public:
  using torch::nn::Module::Module;

  /// True where only transform() acts: the fused kernels do the rest.
  virtual bool fits_kernel() const { return false; }
  /// Queries or keys [batch, time, heads * head_dim] at places first .. first + time - 1, before they are compared;
  /// transformed keys are what a decoder keeps. By default unchanged.
  virtual torch::Tensor transform(const torch::Tensor& x, int64_t /*first*/) { return x; }
  /// The scores before masks: q [batch, heads, target, head_dim], k [batch, heads, source, head_dim]. Returns [batch,
  /// heads, target, source]. By default Q Kᵀ / sqrt(head_dim).
  virtual torch::Tensor scores(const torch::Tensor& q, const torch::Tensor& k, int64_t first_query);
  /// The context: weights [batch, heads, target, source], v [batch, heads, source, head_dim]. By default weights · V.
  virtual torch::Tensor context(const torch::Tensor& weights, const torch::Tensor& v, int64_t first_query);
  /// Where transform() is the only difference, and turns pairs of features by the angles of a position: these. Throws
  /// inference::Unsupported.
  virtual std::shared_ptr<inference::PositionRows> inference_rotation() const {
    throw inference::Unsupported("attention scores other than scaled dot products");
  }
  /// What the layer's initial projection of queries is multiplied by, where scores lack a scale of their own.
  virtual double initial_query_gain() const { return 1; }
};

/// Q Kᵀ scale for heads q [batch, heads, target, size], k [batch, heads, source, size] (or without batch, or both):
/// [batch, heads, target, source]. While gradients are off, float32 on the CPU: no sentence's result depends on the
/// others.
torch::Tensor head_products(const torch::Tensor& q, const torch::Tensor& k, double scale);
/// weights [batch, heads, target, source] · values [batch, heads, source, size] (or without batch, or both), in the
/// same way.
torch::Tensor head_sums(const torch::Tensor& weights, const torch::Tensor& values);
/// Softmax over each sentence's first lengths[b] keys of scores [batch, heads, target, source] (undefined: all keys),
/// in the same way.
torch::Tensor head_softmax(const torch::Tensor& scores, const torch::Tensor& lengths);
/// 1 / sqrt(head_dim) of heads q [batch, heads, target, head_dim].
double attention_scale(const torch::Tensor& q);

}  // namespace nmt
