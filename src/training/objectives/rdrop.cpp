#include "training/objectives/rdrop.h"

#include "training/objectives/paired_loss.h"

namespace nmt {

LossSums RDrop::loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) {
  TensorBatch twice = doubled(batch);
  dropout_.apply(twice, context);
  const auto kl = static_cast<float>(alpha_ / 4);
  return paired_loss(model, twice, context, smoothing_, {.first = 0.5f, .second = 0.5f, .forward = kl, .backward = kl});
}

}  // namespace nmt
