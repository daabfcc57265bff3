#include "nn/layers/embedding.h"

#include <ATen/ops/embedding.h>

#include <cmath>
#include <limits>

#include "nn/ops/forward_context.h"

namespace nmt {

EmbeddingTable::EmbeddingTable(const torch::Tensor& table, PackedMatrix* packed_table, const torch::Tensor& output_bias)
    : weight(table), packed(packed_table), bias(output_bias) {}

bool EmbeddingTable::is_rounded() const {
  return packed && packed->packing().format != kernels::WeightFormat::kFloat32;
}

torch::Tensor EmbeddingTable::look_up(const torch::Tensor& ids, int64_t padding) const {
  if (!torch::GradMode::is_enabled() && weight.device().is_cpu() && is_rounded())
    return packed->look_up({weight, bias}, ids);
  return at::embedding(weight, ids, padding);
}

InputLayer::InputLayer(Options options, std::shared_ptr<Positions> positions)
    : options_(options), positions_(std::move(positions)) {}

torch::Tensor InputLayer::look_up(const torch::Tensor& ids, const EmbeddingTable& table) const {
  const int64_t padding = options_.padding_row_is_constant ? 0 : -1;
  return table.look_up(ids, padding) * std::sqrt(static_cast<double>(table.weight.size(1)));
}

torch::Tensor InputLayer::forward(const torch::Tensor& ids, const EmbeddingTable& table, at::ScalarType type,
                                  ForwardContext& pass) const {
  auto x = look_up(ids, table);  // [batch, time, model]
  if (positions_)
    x = positions_->forward(x, options_.positions_on_padding ? torch::Tensor() : (ids != 0).unsqueeze(-1));
  return dropout(x.to(type), options_.dropout, pass);
}

torch::Tensor InputLayer::step(const torch::Tensor& ids, const EmbeddingTable& table, const RowPositions& positions,
                               LayerCache* cache, at::ScalarType type) const {
  auto x = look_up(ids, table);  // [rows, n, model]
  if (positions_) x = positions_->step(x, positions, cache);
  return x.to(type);
}

inference::EmbeddingWeights InputLayer::inference_weights(const EmbeddingTable& table) const {
  inference::EmbeddingWeights weights{.vocabulary = table.weight.size(0),
                                      .positions = positions_ ? positions_->inference_rows() : nullptr};
  if (table.is_rounded())
    weights.packed = table.packed->map({{table.weight, table.bias}});
  else
    weights.table = table.weight.const_data_ptr<float>();
  return weights;
}

std::unique_ptr<LayerCache> InputLayer::start(const CacheOptions& options) const {
  return positions_ ? positions_->start(options) : nullptr;
}

DecodingCapabilities InputLayer::capabilities() const {
  if (positions_) return positions_->capabilities();
  return {.ragged_positions = true, .exact_prefill = true, .static_positions = std::numeric_limits<int64_t>::max()};
}

int64_t InputLayer::position_limit() const {
  return positions_ ? positions_->limit() : std::numeric_limits<int64_t>::max();
}

}  // namespace nmt
