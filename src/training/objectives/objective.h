#pragma once

#include "config/config.h"
#include "models/interface/model.h"
#include "nn/ops/cross_entropy.h"

namespace nmt {

/// Of training.smoothing and smoothing_form.
Smoothing smoothing_of(const TrainingConfig& config);

/// Teacher-forced label-smoothed cross-entropy, summed over real target tokens.
LossSums reference_loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& pass,
                        const Smoothing& smoothing);

/// training.objective on one micro-batch, summed over real target tokens. p and q are the distributions of two copies
/// of the batch in one forward pass, each with dropout masks (and dropped words) of its own.
///   cross_entropy  CE
///   rdrop          (CE(p) + CE(q)) / 2 + rdrop_alpha / 4 (KL(p‖q) + KL(q‖p)): half of the loss of Liang et al. 2021
///   (eq.
///                  4, and their code), so that loss, gradient and clipping are those of one pass
///   simcut         CE(p) + simcut_alpha KL(p‖q), q of the copy whose embeddings are zero at a share simcut_rate of the
///                  tokens of both sides; gradients flow into p and q, as in the code of Gao et al. 2022
/// label_loss and correct are those of p.
LossSums training_loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& pass,
                       const TrainingConfig& config);

}  // namespace nmt
