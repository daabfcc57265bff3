#include "training/objectives/model_outputs.h"

namespace nmt {

ModelOutputs run_model(TranslationModel& model, const TensorBatch& batch, ForwardContext& context,
                       AttentionWeights attention) {
  ModelOutputs outputs;
  if (attention == AttentionWeights::kRecorded)
    context.record_attention([&outputs](const AttentionMap& map) { outputs.attention.push_back(map); });
  outputs.hidden = model.forward(batch, context);
  if (attention == AttentionWeights::kRecorded) context.record_attention(nullptr);
  return outputs;
}

}  // namespace nmt
