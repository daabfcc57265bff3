#include "nn/decode/layer_cache.h"

#include <ATen/ops/cat.h>

#include "nn/device/device.h"

namespace nmt {
namespace {

torch::Tensor zero_rows(const torch::Tensor& like, int64_t rows) {
  auto sizes = like.sizes().vec();
  sizes.front() = rows;
  return like.new_zeros(sizes);
}

}  // namespace

void RowState::select(const torch::Tensor& rows) {
  if (value.defined()) value = value.index_select(0, copy_to_device(rows, value.device()));
}

void RowState::join(LayerCache& other, int64_t own_rows, int64_t other_rows) {
  auto& theirs = dynamic_cast<RowState&>(other).value;
  if (!value.defined() && !theirs.defined()) return;
  value = at::cat({value.defined() ? value : zero_rows(theirs, own_rows),
                   theirs.defined() ? theirs : zero_rows(value, other_rows)});
}

}  // namespace nmt
