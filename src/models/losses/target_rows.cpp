#include "models/losses/target_rows.h"

#include "nn/ops/packed_rows.h"

namespace nmt {
namespace {

constexpr int64_t kRowMultiple = 256;

}  // namespace

TargetRows chosen_rows(const torch::Tensor& hidden, const torch::Tensor& labels, const torch::Tensor& real) {
  const int64_t rows = real.size(0), filled = (rows + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
  auto chosen_labels = torch::full({filled}, -1, labels.options());
  chosen_labels.narrow(0, 0, rows).copy_(labels.index_select(0, real));
  return {hidden.index_select(0, torch::constant_pad_nd(real, {0, filled - rows}, 0)), chosen_labels};
}

TargetRows target_rows(const torch::Tensor& hidden, const TensorBatch& batch) {
  const auto labels = batch.target_out.flatten();
  const auto real = pack_rows(batch.target_lengths, batch.target_out.size(1), labels.device()).rows;
  return chosen_rows(hidden.flatten(0, 1), labels, real);
}

}  // namespace nmt
