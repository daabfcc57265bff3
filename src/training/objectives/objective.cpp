#include "training/objectives/objective.h"

#include "base/error.h"
#include "nn/ops/packed_rows.h"
#include "training/objectives/token_noise.h"

namespace nmt {
namespace {

// The output layer need not see padding. Rows are filled up to a multiple, with labels that do not count: every new
// number of rows would cost the product's engine new code.
constexpr int64_t kRowMultiple = 256;

/// Rows of hidden that count, and their labels (-1: filled up).
struct Rows {
  torch::Tensor hidden, labels;
};

Rows real_rows(const torch::Tensor& hidden, const torch::Tensor& labels, const torch::Tensor& real) {
  const int64_t rows = real.size(0), filled = (rows + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
  auto chosen_labels = torch::full({filled}, -1, labels.options());
  chosen_labels.narrow(0, 0, rows).copy_(labels.index_select(0, real));
  return {hidden.index_select(0, torch::constant_pad_nd(real, {0, filled - rows}, 0)), chosen_labels};
}

TensorBatch doubled(const TensorBatch& batch) {
  const auto twice = [](const torch::Tensor& x) { return torch::cat({x, x}); };
  return {.source = twice(batch.source),
          .source_lengths = twice(batch.source_lengths),
          .target_in = twice(batch.target_in),
          .target_out = twice(batch.target_out),
          .target_lengths = twice(batch.target_lengths)};
}

/// The second half of the sentences with tokens cut off: their embeddings are the zero row of padding.
void cut_second_half(TensorBatch& batch, double rate, ForwardContext& pass) {
  const int64_t pairs = batch.source.size(0) / 2;
  for (auto* ids : {&batch.source, &batch.target_in}) {
    const auto half = ids->narrow(0, pairs, pairs);
    half.copy_(drop_tokens(half, rate, SpecialIds::kPad, pass));
  }
}

void drop_words(TensorBatch& batch, ForwardContext& pass, const TrainingConfig& config) {
  const int64_t by = config.word_dropout_form == "zero" ? SpecialIds::kPad : SpecialIds::kUnknown;
  batch.source = drop_tokens(batch.source, config.word_dropout1, by, pass);
  batch.target_in = drop_tokens(batch.target_in, config.word_dropout2, by, pass);
}

/// Loss of a batch whose second half is the first again: rows of a pair next to each other.
LossSums paired_loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& pass,
                     const Smoothing& smoothing, const PairLoss& pair) {
  const auto hidden = model.forward(batch, pass).flatten(0, 1);  // [2 * batch * target, model]
  const auto labels = batch.target_out.flatten();
  const int64_t half = labels.size(0) / 2;
  const auto lengths = batch.target_lengths.narrow(0, 0, batch.target_lengths.size(0) / 2);
  const auto first = pack_rows(lengths, batch.target_out.size(1), labels.device()).rows;  // [tokens]
  const auto rows = real_rows(hidden, labels, torch::stack({first, first + half}, 1).flatten());
  return paired_output_cross_entropy(rows.hidden, model.output_weight(), model.output_bias(), rows.labels, smoothing,
                                     pair);
}

}  // namespace

Smoothing smoothing_of(const TrainingConfig& config) {
  const auto form = config.smoothing_form == "all"      ? SmoothingForm::kAll
                    : config.smoothing_form == "others" ? SmoothingForm::kOthers
                                                        : SmoothingForm::kOthersNormalized;
  return {config.smoothing, form};
}

LossSums reference_loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& pass,
                        const Smoothing& smoothing) {
  const auto hidden = model.forward(batch, pass).flatten(0, 1);  // [batch * target, model]
  const auto labels = batch.target_out.flatten();
  const auto real = pack_rows(batch.target_lengths, batch.target_out.size(1), labels.device()).rows;
  const auto rows = real_rows(hidden, labels, real);
  return output_cross_entropy(rows.hidden, model.output_weight(), model.output_bias(), rows.labels, smoothing);
}

LossSums training_loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& pass,
                       const TrainingConfig& config) {
  const bool paired = config.objective != "cross_entropy";
  TensorBatch noisy = paired ? doubled(batch) : batch;
  drop_words(noisy, pass, config);
  const auto smoothing = smoothing_of(config);
  if (!paired) return reference_loss(model, noisy, pass, smoothing);
  if (config.objective == "rdrop") {
    const auto kl = static_cast<float>(config.rdrop_alpha / 4);
    return paired_loss(model, noisy, pass, smoothing, {.first = 0.5f, .second = 0.5f, .forward = kl, .backward = kl});
  }
  if (config.objective == "simcut") {
    cut_second_half(noisy, config.simcut_rate, pass);
    return paired_loss(model, noisy, pass, smoothing,
                       {.first = 1, .second = 0, .forward = static_cast<float>(config.simcut_alpha), .backward = 0});
  }
  throw Error("training.objective: '" + config.objective + "' is none of cross_entropy, rdrop, simcut");
}

}  // namespace nmt
