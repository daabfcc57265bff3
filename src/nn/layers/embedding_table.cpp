#include "nn/layers/embedding_table.h"

#include <ATen/ops/embedding.h>

namespace nmt {

torch::Tensor EmbeddingTable::look_up(const torch::Tensor& ids, int64_t padding) const {
  const bool rounded = packed && packed->packing().format != kernels::WeightFormat::kFloat32;
  if (rounded && !torch::GradMode::is_enabled() && weight.device().is_cpu())
    return packed->look_up({weight, bias}, ids);
  return at::embedding(weight, ids, padding);
}

}  // namespace nmt
