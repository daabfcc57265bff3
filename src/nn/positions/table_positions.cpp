#include "nn/positions/table_positions.h"

#include <ATen/ops/arange.h>

#include <utility>

#include "nn/device/device.h"

namespace nmt {
namespace {

/// The whole table of a step with static caches, the same for all rows.
class StaticTable final : public LayerCache {
 public:
  explicit StaticTable(std::shared_ptr<const StaticSlot> slot) : slot(std::move(slot)) {}
  void select(const torch::Tensor& /*rows*/) override {}
  void join(LayerCache& /*other*/, int64_t /*own_rows*/, int64_t /*other_rows*/) override {}
  void continue_from(const LayerCache& /*from*/, const torch::Tensor& /*parents*/, int64_t /*steps*/) override {}

  std::shared_ptr<const StaticSlot> slot;
  torch::Tensor vectors;  // [capacity, model], made at the first step
};

}  // namespace

std::unique_ptr<LayerCache> TablePositions::start(const CacheOptions& options) const {
  return options.form == CacheForm::kStatic ? std::make_unique<StaticTable>(options.slot) : nullptr;
}

torch::Tensor TablePositions::step(const torch::Tensor& x, const RowPositions& positions, LayerCache* cache) {
  if (!cache) return combine(x, copy_to_device(rows_at(positions, x.size(0), x.size(1)), x.device()));
  auto& table = dynamic_cast<StaticTable&>(*cache);
  if (!table.vectors.defined()) table.vectors = copy_to_device(rows(0, table.slot->capacity), x.device());
  return combine(x, table.vectors.index_select(0, table.slot->position));
}

torch::Tensor TablePositions::rows_at(const RowPositions& positions, int64_t row_count, int64_t n) {
  if (positions.are_equal()) return rows(positions.common(), n);
  const auto places = positions.tensor(row_count).unsqueeze(1) + at::arange(n, torch::kInt64);  // [rows, n]
  const auto first = places.min().item<int64_t>(), last = places.max().item<int64_t>();
  const auto table = rows(first, last - first + 1);
  return table.index_select(0, copy_to_device((places - first).flatten(), table.device())).unflatten(0, places.sizes());
}

}  // namespace nmt
