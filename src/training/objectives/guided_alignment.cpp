#include "training/objectives/guided_alignment.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "models/losses/model_outputs.h"
#include "models/losses/smoothed_cross_entropy.h"

namespace nmt {

torch::Tensor alignment_loss(const torch::Tensor& weights, const torch::Tensor& alignment, AlignmentToken token) {
  constexpr double kLeast = 1e-9;             // its logarithm has a gradient that is finite
  const int64_t steps = weights.size(1) - 1;  // the last one writes or reads nothing that could have links
  const int64_t first = token == AlignmentToken::kInput ? 1 : 0;
  return -(weights.narrow(1, first, steps).clamp_min(kLeast).log() * alignment.narrow(1, 0, steps)).sum();
}

LossSums GuidedAlignment::loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) {
  TensorBatch read = batch;
  dropout_.apply(read, context);
  if (!batch.alignment.defined()) return smoothed_cross_entropy(model, read, context, smoothing_);
  const auto outputs = run_model(model, read, context, AttentionWeights::kRecorded, options_.layer);
  if (outputs.attention.empty())
    throw Error(fmt::format("training.guided_alignment: this model has no attention {}; see decoding.alignment_layer",
                            options_.layer));
  const auto& weights = outputs.attention.front().weights;
  if (options_.head >= weights.size(1))
    throw Error(fmt::format("decoding.alignment_head {}: the layer has {} heads", options_.head + 1, weights.size(1)));
  auto sums = smoothed_cross_entropy(model, outputs, read, smoothing_);
  const auto aligned = alignment_loss(weights.select(1, options_.head), batch.alignment, options_.token);
  sums.loss = sums.loss + options_.weight * aligned;
  return sums;
}

GuidedAlignment::Options GuidedAlignment::options_of(const Config& config) {
  const auto& decoding = config.decoding;
  const int64_t layers = config.model.decoder_blocks.value_or(config.model.num_blocks);
  const int64_t layer = decoding.alignment_layer > 0 ? decoding.alignment_layer - 1 : std::max<int64_t>(layers - 2, 0);
  const bool recurrent = config.model.architecture == Architecture::kRecurrent;
  return {.weight = config.training.guided_alignment,
          .layer = recurrent ? "decoder.attention" : fmt::format("decoder.{}.cross", layer),
          .head = std::max<int64_t>(decoding.alignment_head - 1, 0),
          .token = decoding.alignment_token};
}

}  // namespace nmt
