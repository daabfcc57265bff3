#include "training/objectives/paired_loss.h"

#include "models/losses/model_outputs.h"
#include "models/losses/target_rows.h"
#include "nn/ops/packed_rows.h"

namespace nmt {

TensorBatch doubled(const TensorBatch& batch) {
  const auto twice = [](const torch::Tensor& x) { return torch::cat({x, x}); };
  return {.source = twice(batch.source),
          .source_lengths = twice(batch.source_lengths),
          .target_in = twice(batch.target_in),
          .target_out = twice(batch.target_out),
          .target_lengths = twice(batch.target_lengths)};
}

LossSums paired_loss(TranslationModel& model, const TensorBatch& doubled_batch, ForwardContext& context,
                     const Smoothing& smoothing, const PairLoss& pair) {
  const auto outputs = run_model(model, doubled_batch, context);
  const auto hidden = outputs.hidden.flatten(0, 1);  // [2 * batch * target, model]
  const auto labels = doubled_batch.target_out.flatten();
  const int64_t half = labels.size(0) / 2;
  const auto lengths = doubled_batch.target_lengths.narrow(0, 0, doubled_batch.target_lengths.size(0) / 2);
  const auto first = pack_rows(lengths, doubled_batch.target_out.size(1), labels.device()).rows;  // [tokens]
  // The two rows of a token stand next to each other.
  const auto rows = chosen_rows(hidden, labels, torch::stack({first, first + half}, 1).flatten());
  const auto sums = paired_output_cross_entropy(rows.hidden, model.output_weight(), model.output_bias(), rows.labels,
                                                smoothing, pair);
  return with_auxiliary_loss(sums, outputs, lengths.sum().item<int64_t>());
}

}  // namespace nmt
