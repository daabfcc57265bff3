#pragma once

#include <memory>
#include <utility>

#include "models/loss.h"
#include "training/loop/objectives.h"

namespace nmt {

/// An objective: the student's distribution follows that of a teacher (Kim and Rush 2016, eq. 6), its last attention
/// the teacher's, and its hidden states stay small.
class Distillation final : public Objective {
 public:
  explicit Distillation(std::shared_ptr<TranslationModel> teacher) : teacher_(std::move(teacher)) { teacher_->eval(); }

  LossSums loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) override {
    const auto student = run_model(model, batch, context, AttentionWeights::kRecorded);
    const auto [target, attention] = of_teacher(batch);
    const auto real = target_rows(student.hidden, batch);
    const auto logs = torch::log_softmax(model.logits(real.hidden), -1);
    const auto counts = real.labels.ge(0).unsqueeze(-1);  // [rows, 1]: the others fill up
    const auto labels = real.labels.clamp_min(0).unsqueeze(-1);
    const auto follow = -(target * logs * counts).sum();
    const auto look = (student.attention.back().weights - attention).square().sum();
    const auto stay = (real.hidden * counts).square().sum();
    return {.loss = follow + look + 1e-4 * stay,
            .label_loss = -(logs.gather(-1, labels) * counts).sum().detach(),
            .correct = logs.argmax(-1).eq(real.labels).sum()};
  }

 private:
  std::pair<torch::Tensor, torch::Tensor> of_teacher(const TensorBatch& batch) {
    const torch::NoGradGuard no_grad;
    ForwardContext no_dropout;
    const auto outputs = run_model(*teacher_, batch, no_dropout, AttentionWeights::kRecorded);
    const auto rows = target_rows(outputs.hidden, batch);
    return {torch::softmax(teacher_->logits(rows.hidden), -1), outputs.attention.back().weights};
  }

  std::shared_ptr<TranslationModel> teacher_;
};

}  // namespace nmt
