#pragma once

#include <torch/types.h>

#include "config/kinds.h"
#include "nn/kernels/kernels.h"

namespace nmt {

/// The target distribution q of label smoothing.
struct Smoothing {
  Smoothing(double rate = 0, SmoothingForm form = SmoothingForm::kAll) : rate(rate), form(form) {}
  double rate;  ///< eps, in [0, 1)
  SmoothingForm form;

  /// The share that, spread over all classes, gives the same q: others is (1 - e) onehot + e / V with
  /// e = eps V / (V - 1).
  double rate_over_all(int64_t classes) const;
  /// What is taken off the cross-entropy of each row, nats.
  double constant(int64_t classes) const;
};

/// Sums over the rows of one batch.
struct LossSums {
  torch::Tensor loss;        ///< float32 scalar (of float64: float64) with gradient: label-smoothed cross-entropy, nats
  torch::Tensor label_loss;  ///< float32 scalar: -log p(label), nats; exp of its mean is the perplexity
  torch::Tensor correct;     ///< int64 scalar: labels with the highest logit
};

/// What two predictions for one target token cost.
using kernels::PairLoss;

/// Output layer and label-smoothed cross-entropy, summed over rows:
///   loss = -sum_rows (sum_v q_v log p_v + constant),   p = softmax(hidden weightᵀ + bias)
/// with q and the constant of `smoothing`. hidden [rows, model]; weight [vocabulary, model]; bias [vocabulary] or
/// undefined; labels int64 [rows], negative where a row does not count. It works through blocks of rows and turns each
/// block of logits into its gradient at once: the whole [rows, vocabulary] matrix never exists. Float32 and bfloat16 on
/// the CPU go through the toolkit's kernels, all else through tensor operations.
LossSums output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight, const torch::Tensor& bias,
                              const torch::Tensor& labels, const Smoothing& smoothing);

/// The same where the rows 2i and 2i + 1 are two predictions for one target token: p and q of PairLoss. Gradients flow
/// into both. Labels, label_loss and correct are those of row 2i.
LossSums paired_output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                     const torch::Tensor& bias, const torch::Tensor& labels, const Smoothing& smoothing,
                                     const PairLoss& pair);

/// What a teacher predicts in the same rows, by tensors without gradient: softmax(hidden weightᵀ + bias).
struct TeacherRows {
  torch::Tensor hidden;        ///< [rows, the teacher's model], of any floating type
  torch::Tensor weight, bias;  ///< [vocabulary, the teacher's model]; [vocabulary] or undefined
  double share = 0;            ///< of its distributions in the loss, [0, 1]
};

/// Word-level distillation (Kim and Rush 2016, sec. 3.1): with t the teacher's prediction, in rows that count
///   loss = (1 - share) * that of output_cross_entropy() - share * sum_rows sum_v t_v log p_v.
/// label_loss and correct are those of output_cross_entropy(). It works in the same blocks; share 0 gives the same
/// bits.
LossSums distilled_output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                        const torch::Tensor& bias, const torch::Tensor& labels,
                                        const Smoothing& smoothing, const TeacherRows& teacher);

/// The first two by plain tensor operations on the whole matrix: what the blocks are tested against.
LossSums plain_output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight, const torch::Tensor& bias,
                                    const torch::Tensor& labels, const Smoothing& smoothing);
LossSums plain_paired_output_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                           const torch::Tensor& bias, const torch::Tensor& labels,
                                           const Smoothing& smoothing, const PairLoss& pair);

}  // namespace nmt
