#pragma once

#include "models/interface/model.h"
#include "nn/ops/cross_entropy.h"

namespace nmt {

/// The batch and behind it the same sentences again, in tensors of its own: one forward pass gives two predictions for
/// each target token, with masks of their own.
TensorBatch doubled(const TensorBatch& batch);

/// The loss of a doubled batch: what the two predictions for a token cost together (paired_output_cross_entropy), the
/// first of which is that of the first half.
LossSums paired_loss(TranslationModel& model, const TensorBatch& doubled_batch, ForwardContext& context,
                     const Smoothing& smoothing, const PairLoss& pair);

}  // namespace nmt
