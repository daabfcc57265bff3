#include "nn/decode/cpu_cache.h"

#include <iterator>
#include <utility>

namespace nmt {

void CpuKeyValueCache::append(const torch::Tensor& keys_and_values) {
  for (int64_t token = 0; token < keys_and_values.size(1); ++token)
    history_.push(keys_and_values.select(1, token).to(form_.kept_type).contiguous());
}

torch::Tensor CpuKeyValueCache::attend(const torch::Tensor& q) { return attention_step(q, history_, form_.heads); }

void CpuKeyValueCache::join(LayerCache& other, int64_t own_rows, int64_t other_rows) {
  history_.join(dynamic_cast<CpuKeyValueCache&>(other).history_, own_rows, other_rows);
}

CpuSourceCache::CpuSourceCache(const torch::Tensor& keys_and_values, const AttentionForm& form) : form_(form) {
  const auto both = keys_and_values.to(form.kept_type).chunk(2, -1);
  groups_.push_back({both[0], both[1]});
}

torch::Tensor CpuSourceCache::attend(const torch::Tensor& q, std::span<const SourcePlace> places) {
  return attention_step(q, groups_, form_.heads, places);
}

void CpuSourceCache::join(SourceCache& other) {
  std::ranges::move(dynamic_cast<CpuSourceCache&>(other).groups_, std::back_inserter(groups_));
}

void CpuSourceCache::keep(std::span<const int64_t> groups) {
  std::vector<KeyValues> kept;
  for (const int64_t group : groups) kept.push_back(std::move(groups_[group]));
  groups_ = std::move(kept);
}

}  // namespace nmt
