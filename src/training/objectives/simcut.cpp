#include "training/objectives/simcut.h"

#include "training/objectives/paired_loss.h"

namespace nmt {

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

}  // namespace nmt
