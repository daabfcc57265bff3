#include "models/losses/model_outputs.h"

#include "nn/modules/auxiliary_loss.h"

namespace nmt {
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

}  // namespace nmt
