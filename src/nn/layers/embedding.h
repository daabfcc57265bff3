#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>

#include "nn/layers/embedding_table.h"
#include "nn/ops/forward_context.h"
#include "nn/positions/positions.h"

namespace nmt {

/// Token embedding times sqrt(model), with its absolute positions, then dropout (Vaswani et al. 2017, sec. 3.4).
/// The table is passed in, since it may be shared with the other language and the output layer.
class InputLayer {
 public:
  struct Options {
    double dropout = 0;
    bool padding_row_is_constant = true;  ///< row 0 gets no gradient from look-ups
    bool positions_on_padding = true;     ///< false: padding stays without position (Kyubyong)
  };
  InputLayer(Options options, std::shared_ptr<Positions> positions);  ///< positions may be null

  /// ids int64 [batch, time] at positions 0..time-1; table [vocabulary, model] float. Returns [batch, time, model] in
  /// `type`.
  torch::Tensor forward(const torch::Tensor& ids, const EmbeddingTable& table, at::ScalarType type,
                        ForwardContext& pass) const;
  /// The cache of the positions for a search that starts; null where they keep nothing.
  std::unique_ptr<LayerCache> start(const CacheOptions& options) const;
  /// ids int64 [rows, n], of which the first ones stand at `positions`; the cache is that of start(). Returns [rows, n,
  /// model].
  torch::Tensor step(const torch::Tensor& ids, const EmbeddingTable& table, const RowPositions& positions,
                     LayerCache* cache, at::ScalarType type) const;
  DecodingCapabilities capabilities() const;
  /// How many positions a sentence may have.
  int64_t position_limit() const;

 private:
  torch::Tensor look_up(const torch::Tensor& ids, const EmbeddingTable& table) const;

  Options options_;
  std::shared_ptr<Positions> positions_;
};

}  // namespace nmt
