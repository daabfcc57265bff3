#include "search/rules/row_logits.h"

#include <algorithm>
#include <vector>

#include "nn/device/device.h"

namespace nmt {

bool RowLogits::has(int32_t token) const { return columns_.empty() || std::ranges::binary_search(columns_, token); }

int64_t RowLogits::column(int32_t token) const {
  return columns_.empty() ? token : std::ranges::lower_bound(columns_, token) - columns_.begin();
}

void RowLogits::update(std::span<const Place> places,
                       const std::function<torch::Tensor(const torch::Tensor&)>& change) {
  if (places.empty()) return;
  std::vector<int64_t> flat_places;
  for (const auto& [row, token] : places) flat_places.push_back(row * logits_.size(1) + column(token));
  const auto indices = copy_to_device(torch::tensor(flat_places, torch::kLong), logits_.device());
  logits_ = logits_.contiguous();
  auto flat = logits_.view(-1);
  flat.index_copy_(0, indices, change(flat.index_select(0, indices)));
}

}  // namespace nmt
