#include "training/loop/objectives.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "models/loss.h"
#include "nn/device/device.h"
#include "nn/ops/packed_rows.h"

namespace nmt {

torch::Tensor drop_tokens(const torch::Tensor& ids, double rate, int64_t by, ForwardContext& context) {
  if (!context.training() || rate == 0) return ids;
  CounterRandom random({context.next_key()});
  auto chosen = torch::empty(ids.sizes(), torch::kBool);
  auto* flags = chosen.mutable_data_ptr<bool>();
  for (int64_t i = 0; i < chosen.numel(); ++i) flags[i] = random.uniform() < rate;
  const auto is_piece = (ids == SpecialIds::kUnknown).logical_or_(ids > SpecialIds::kEnd);
  return ids.masked_fill(copy_to_device(chosen, ids.device()).logical_and_(is_piece), by);
}

void WordDropout::apply(TensorBatch& batch, ForwardContext& context) const {
  batch.source = drop_tokens(batch.source, source, by, context);
  batch.target_in = drop_tokens(batch.target_in, target, by, context);
}

LossSums CrossEntropy::loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) {
  TensorBatch read = batch;
  dropout_.apply(read, context);
  return smoothed_cross_entropy(model, read, context, smoothing_);
}

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

LossSums RDrop::loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) {
  TensorBatch twice = doubled(batch);
  dropout_.apply(twice, context);
  return paired_loss(model, twice, context, smoothing_, pair_loss(alpha_));
}

PairLoss RDrop::pair_loss(double alpha) {
  const auto kl = static_cast<float>(alpha / 4);
  return {.first = 0.5f, .second = 0.5f, .forward = kl, .backward = kl};
}

LossSums SimCut::loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) {
  TensorBatch twice = doubled(batch);
  dropout_.apply(twice, context);
  const int64_t pairs = batch.source.size(0);
  for (auto* ids : {&twice.source, &twice.target_in}) {
    const auto copy = ids->narrow(0, pairs, pairs);
    copy.copy_(drop_tokens(copy, options_.rate, SpecialIds::kPad, context));  // the embedding of padding is zero
  }
  return paired_loss(model, twice, context, smoothing_,
                     {.first = 1, .second = 0, .forward = static_cast<float>(options_.alpha), .backward = 0});
}

LossSums WordDistillation::loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) {
  TensorBatch read = batch;
  dropout_.apply(read, context);
  const auto outputs = run_model(model, read, context);
  const auto rows = target_rows(outputs.hidden, batch);
  const auto sums = distilled_output_cross_entropy(rows.hidden, model.output_weight(), model.output_bias(), rows.labels,
                                                   smoothing_, teacher_rows(batch));
  return with_auxiliary_loss(sums, outputs, batch.target_lengths.sum().item<int64_t>());
}

TeacherRows WordDistillation::teacher_rows(const TensorBatch& batch) const {
  const c10::NoGradGuard no_gradients;
  ForwardContext no_dropout;
  const auto rows = target_rows(run_model(*teacher_, batch, no_dropout).hidden, batch);
  return {
      .hidden = rows.hidden, .weight = teacher_->output_weight(), .bias = teacher_->output_bias(), .share = weight_};
}

Smoothing smoothing_of(const TrainingConfig& config) { return {config.smoothing, config.smoothing_form}; }

WordDropout word_dropout_of(const TrainingConfig& config) {
  return {.source = config.word_dropout1,
          .target = config.word_dropout2,
          .by = config.word_dropout_form == WordDropoutForm::kZero ? SpecialIds::kPad : SpecialIds::kUnknown};
}

std::unique_ptr<Objective> make_objective(const Config& config, std::shared_ptr<TranslationModel> teacher) {
  const auto& training = config.training;
  if (training.guided_alignment == 0) return make_objective(training, std::move(teacher));
  return std::make_unique<GuidedAlignment>(GuidedAlignment::options_of(config), smoothing_of(training),
                                           word_dropout_of(training));
}

std::unique_ptr<Objective> make_objective(const TrainingConfig& config, std::shared_ptr<TranslationModel> teacher) {
  const auto smoothing = smoothing_of(config);
  const auto dropout = word_dropout_of(config);
  switch (config.objective) {
    case ObjectiveKind::kCrossEntropy:
      return std::make_unique<CrossEntropy>(smoothing, dropout);
    case ObjectiveKind::kRDrop:
      return std::make_unique<RDrop>(config.rdrop_alpha, smoothing, dropout);
    case ObjectiveKind::kSimCut:
      return std::make_unique<SimCut>(SimCut::Options{.alpha = config.simcut_alpha, .rate = config.simcut_rate},
                                      smoothing, dropout);
    case ObjectiveKind::kDistillation:
      return std::make_unique<WordDistillation>(std::move(teacher), config.teacher_weight, smoothing, dropout);
  }
  return nullptr;
}

}  // namespace nmt
