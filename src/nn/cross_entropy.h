#pragma once

#include <torch/types.h>

namespace nmt {

/// Sums over the rows of one batch.
struct LossSums {
  torch::Tensor loss;        ///< float32 scalar with gradient: label-smoothed cross-entropy, nats
  torch::Tensor label_loss;  ///< float32 scalar: -log p(label), nats; exp of its mean is the perplexity
  torch::Tensor correct;     ///< int64 scalar: labels with the highest logit
};

/// Output layer and label-smoothed cross-entropy (Szegedy et al. 2016, sec. 7), summed over rows:
///   loss = -sum_rows sum_v q_v log p_v,   q = (1 - eps) onehot(label) + eps / V,   p = softmax(hidden weightᵀ + bias)
/// over all V classes. hidden [rows, model]; weight [vocabulary, model]; bias [vocabulary] or undefined; labels int64
/// [rows], negative where a row does not count. On the CPU it works through blocks of rows and turns each block of
/// logits into its gradient at once: the whole [rows, vocabulary] matrix never exists.
LossSums output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight, const torch::Tensor& bias,
                              const torch::Tensor& labels, double smoothing);

/// The same by plain tensor operations: any device; what the blocks are tested against.
LossSums plain_output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight, const torch::Tensor& bias,
                                    const torch::Tensor& labels, double smoothing);

}  // namespace nmt
