#include "training/objectives/token_noise.h"

#include "base/random.h"
#include "nn/device/device.h"

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

}  // namespace nmt
