#include "nn/decode/static_cache.h"

#include "nn/device/device.h"

namespace nmt {

torch::Tensor heads_first(const torch::Tensor& x, HeadCounts heads) {
  return x.unflatten(-1, {heads.key_value, -1}).transpose(1, 2).contiguous();
}

void StaticKeyValueCache::append(const torch::Tensor& keys_and_values) {
  TORCH_CHECK(keys_and_values.size(1) == 1, "a step of fixed shape takes one token a row");
  const auto kv = keys_and_values.chunk(2, -1);
  if (!kept_.keys.defined()) {
    const int64_t head_dim = kv[0].size(2) / heads_.key_value;
    for (auto* kept : {&kept_.keys, &kept_.values})
      *kept = kv[0].new_zeros({kv[0].size(0), heads_.key_value, slot_->capacity, head_dim});
  }
  kept_.visible = slot_->visible;
  kept_.keys.index_copy_(2, slot_->position, heads_first(kv[0], heads_));
  kept_.values.index_copy_(2, slot_->position, heads_first(kv[1], heads_));
}

void StaticKeyValueCache::select(const torch::Tensor& rows) {
  if (kept_.keys.defined()) continue_from(*this, copy_to_device(rows, kept_.keys.device()), slot_->capacity);
}

void StaticKeyValueCache::join(LayerCache& /*other*/, int64_t /*own_rows*/, int64_t /*other_rows*/) {
  TORCH_CHECK(false, "a search whose sentences start together");
}

void StaticKeyValueCache::continue_from(const LayerCache& from, const torch::Tensor& parents, int64_t steps) {
  const auto& theirs = dynamic_cast<const StaticKeyValueCache&>(from).kept_;
  const auto take = [&](torch::Tensor& mine, const torch::Tensor& past) {
    if (!mine.defined()) mine = past.new_zeros({slot_->rows, past.size(1), slot_->capacity, past.size(3)});
    mine.narrow(0, 0, parents.size(0)).narrow(2, 0, steps).copy_(past.narrow(2, 0, steps).index_select(0, parents));
  };
  take(kept_.keys, theirs.keys);
  take(kept_.values, theirs.values);
}

int64_t StaticKeyValueCache::bytes() const {
  return kept_.keys.defined() ? static_cast<int64_t>(kept_.keys.nbytes() + kept_.values.nbytes()) : 0;
}

}  // namespace nmt
