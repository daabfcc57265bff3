#include "models/losses/model_outputs.h"

#include "nn/ops/auxiliary_loss.h"

namespace nmt {
namespace {

torch::Tensor auxiliary_loss_of(TranslationModel& model) {
  torch::Tensor sum;
  const auto add = [&sum](torch::nn::Module& module) {
    auto* has_loss = dynamic_cast<AuxiliaryLoss*>(&module);
    const auto loss = has_loss ? has_loss->take_auxiliary_loss() : torch::Tensor();
    if (loss.defined()) sum = sum.defined() ? sum + loss : loss;
  };
  add(model);
  for (const auto& module : model.modules(/*include_self=*/false)) add(*module);
  return sum;
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

}  // namespace nmt
