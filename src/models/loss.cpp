#include "models/loss.h"

#include <c10/core/GradMode.h>
#include <torch/utils.h>

#include <cmath>
#include <vector>

#include "nn/layers/feed_forward.h"
#include "nn/ops/packed_rows.h"

namespace nmt {
namespace {

constexpr int64_t kRowMultiple = 256;

}  // namespace

TargetRows chosen_rows(const torch::Tensor& hidden, const torch::Tensor& labels, const torch::Tensor& real) {
  const int64_t rows = real.size(0), filled = (rows + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
  auto chosen_labels = torch::full({filled}, -1, labels.options());
  chosen_labels.narrow(0, 0, rows).copy_(labels.index_select(0, real));
  return {hidden.index_select(0, torch::constant_pad_nd(real, {0, filled - rows}, 0)), chosen_labels};
}

TargetRows target_rows(const torch::Tensor& hidden, const TensorBatch& batch) {
  const auto labels = batch.target_out.flatten();
  const auto real = pack_rows(batch.target_lengths, batch.target_out.size(1), labels.device()).rows;
  return chosen_rows(hidden.flatten(0, 1), labels, real);
}

namespace {

torch::Tensor auxiliary_loss_of(TranslationModel& model) {
  auto* has_loss = dynamic_cast<AuxiliaryLoss*>(&model);
  const auto own = has_loss ? has_loss->take_auxiliary_loss() : torch::Tensor();
  const auto below = take_auxiliary_losses(model.modules(/*include_self=*/false));
  return own.defined() && below.defined() ? own + below : own.defined() ? own : below;
}

}  // namespace

ModelOutputs run_model(TranslationModel& model, const TensorBatch& batch, ForwardContext& context,
                       AttentionWeights attention, const std::string& layer) {
  ModelOutputs outputs;
  if (attention == AttentionWeights::kRecorded)
    context.record_attention([&outputs](const AttentionMap& map) { outputs.attention.push_back(map); }, layer);
  outputs.hidden = model.forward(batch, context);
  if (attention == AttentionWeights::kRecorded) context.record_attention(nullptr);
  outputs.auxiliary_loss = auxiliary_loss_of(model);
  return outputs;
}

LossSums with_auxiliary_loss(LossSums sums, const ModelOutputs& outputs, int64_t target_tokens) {
  if (outputs.auxiliary_loss.defined()) sums.loss = sums.loss + outputs.auxiliary_loss * target_tokens;
  return sums;
}

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

LossTotals& LossTotals::operator+=(const LossTotals& other) {
  loss += other.loss;
  label_loss += other.label_loss;
  correct += other.correct;
  target_tokens += other.target_tokens;
  return *this;
}

double LossTotals::perplexity() const { return std::exp(mean_label_loss()); }

torch::Tensor loss_row(const LossSums& sums) {
  const torch::NoGradGuard no_grad;
  const auto exact = [](const torch::Tensor& x) { return x.to(torch::kFloat64); };
  return torch::stack({exact(sums.loss), exact(sums.label_loss), exact(sums.correct)});
}

LossTotals evaluate(TranslationModel& model, std::span<const Batch> batches, const Smoothing& smoothing,
                    torch::Device device, double teacher_forcing) {
  const c10::NoGradGuard no_gradients;
  LossTotals totals;
  std::vector<torch::Tensor> sums;
  for (const auto& batch : batches) {
    ForwardContext no_dropout;
    no_dropout.set_teacher_forcing(teacher_forcing);
    sums.push_back(loss_row(smoothed_cross_entropy(model, to_tensors(batch, device), no_dropout, smoothing)));
    totals.target_tokens += batch.target_tokens;
  }
  if (sums.empty()) return totals;
  const auto rows = torch::stack(sums).cpu();  // [batches, 3]; one wait for the device
  for (int64_t row = 0; row < rows.size(0); ++row) {
    const double* values = rows.const_data_ptr<double>() + row * rows.size(1);
    totals.loss += values[0];
    totals.label_loss += values[1];
    totals.correct += static_cast<int64_t>(values[2]);
  }
  return totals;
}

}  // namespace nmt
