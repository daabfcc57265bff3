#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>

#include "nn/decode/decoding_capabilities.h"
#include "nn/decode/layer_cache.h"
#include "nn/decode/row_positions.h"
#include "nn/ops/forward_context.h"

namespace nmt {

/// How a decoder block tells a position about those before it: causal self-attention, or a layer in its place.
class Mixer : public torch::nn::Module {
 public:
  /// Position t of x [batch, time, model] sees positions 0..t. lengths int64 [batch] on the CPU: rows beyond are
  /// padding, their result is undefined. Returns [batch, time, model].
  virtual torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& lengths, ForwardContext& pass) = 0;
  /// The cache for a search that starts; step() gets it back. By default one tensor a row.
  virtual std::unique_ptr<LayerCache> start(const CacheOptions& /*options*/) const {
    return std::make_unique<RowState>();
  }
  /// forward() for n more positions of each row: x [rows, n, model], of which the first ones stand at `positions`; the
  /// cache holds what earlier steps left. Plus `residual`, of x's shape (undefined: nothing). Returns x's shape.
  virtual torch::Tensor step(const torch::Tensor& x, LayerCache& cache, const RowPositions& positions,
                             const torch::Tensor& residual) = 0;
  virtual DecodingCapabilities capabilities() const { return {.ragged_positions = true, .exact_prefill = true}; }
};

}  // namespace nmt
