#pragma once

#include "models/interface/model.h"
#include "models/losses/model_outputs.h"
#include "nn/ops/cross_entropy.h"

namespace nmt {

/// Label-smoothed cross-entropy of the references of a batch, summed over their real tokens (pieces and the end
/// symbol): also what validation reports. The decoder reads the reference, or what the context says
/// (ForwardContext::set_teacher_forcing). In training it has the model's auxiliary losses, too.
LossSums smoothed_cross_entropy(TranslationModel& model, const TensorBatch& batch, ForwardContext& context,
                                const Smoothing& smoothing);
/// The same of what the model gave for the batch.
LossSums smoothed_cross_entropy(const TranslationModel& model, const ModelOutputs& outputs, const TensorBatch& batch,
                                const Smoothing& smoothing);

}  // namespace nmt
