#include "models/losses/smoothed_cross_entropy.h"

#include "models/losses/target_rows.h"

namespace nmt {

LossSums smoothed_cross_entropy(TranslationModel& model, const TensorBatch& batch, ForwardContext& context,
                                const Smoothing& smoothing) {
  return smoothed_cross_entropy(model, run_model(model, batch, context), batch, smoothing);
}

LossSums smoothed_cross_entropy(const TranslationModel& model, const ModelOutputs& outputs, const TensorBatch& batch,
                                const Smoothing& smoothing) {
  const auto rows = target_rows(outputs.hidden, batch);
  const auto sums =
      output_cross_entropy(rows.hidden, model.output_weight(), model.output_bias(), rows.labels, smoothing);
  return with_auxiliary_loss(sums, outputs, batch.target_lengths.sum().item<int64_t>());
}

}  // namespace nmt
