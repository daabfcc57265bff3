#include "nn/positions/distances.h"

#include <ATen/ops/arange.h>

namespace nmt {

torch::Tensor distances(int64_t first_query, int64_t target, int64_t source, torch::Device device) {
  const auto options = torch::TensorOptions(torch::kInt64).device(device);
  return at::arange(source, options).unsqueeze(0) - at::arange(first_query, first_query + target, options).unsqueeze(1);
}

torch::Tensor pick(const torch::Tensor& table, const torch::Tensor& index) {
  return table.gather(-1, index.expand({table.size(0), table.size(1), index.size(0), index.size(1)}));
}

}  // namespace nmt
