#include "data/changed_pairs.h"

namespace nmt {

std::optional<IdPair> ChangedPairs::find(int64_t pair) const {
  const auto found = places_.find(pair);
  if (found == places_.end()) return std::nullopt;
  const auto& [begin, source, target] = found->second;
  const auto* ids = ids_.data() + begin;
  return IdPair{{ids, ids + source}, {ids + source, ids + source + target}};
}

void ChangedPairs::keep(int64_t pair, const IdPair& ids) {
  if (ids_.size() + ids.source.size() + ids.target.size() > most_ids_) return;
  places_[pair] = {ids_.size(), static_cast<uint32_t>(ids.source.size()), static_cast<uint32_t>(ids.target.size())};
  ids_.insert(ids_.end(), ids.source.begin(), ids.source.end());
  ids_.insert(ids_.end(), ids.target.begin(), ids.target.end());
}

void ChangedPairs::forget() {
  ids_.clear();
  places_.clear();
}

}  // namespace nmt
