#include "models/losses/held_out_loss.h"

#include <c10/core/GradMode.h>
#include <torch/utils.h>

#include <cmath>
#include <vector>

#include "models/losses/smoothed_cross_entropy.h"

namespace nmt {

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
