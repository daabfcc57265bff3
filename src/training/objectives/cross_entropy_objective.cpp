#include "training/objectives/cross_entropy_objective.h"

#include "models/losses/smoothed_cross_entropy.h"

namespace nmt {

LossSums CrossEntropy::loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) {
  TensorBatch read = batch;
  dropout_.apply(read, context);
  return smoothed_cross_entropy(model, read, context, smoothing_);
}

}  // namespace nmt
