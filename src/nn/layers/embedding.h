#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>

#include "nn/ops/forward_context.h"
#include "nn/ops/packed_matrix.h"
#include "nn/positions/positions.h"

namespace nmt {

/// A table of embeddings as rows of it are looked up. While weights are packed in 8 or 16 bits for decoding on the CPU,
/// a row has the numbers that products see: those that a quantized model directory has.
struct EmbeddingTable {
  EmbeddingTable(const torch::Tensor& table, PackedMatrix* packed_table = nullptr,
                 const torch::Tensor& output_bias = {});

  /// ids int64 [...] -> [..., model], float32. The row of `padding` gets no gradient; -1: every row does.
  torch::Tensor look_up(const torch::Tensor& ids, int64_t padding) const;
  /// Whether rows come out of packed weights: on the CPU, without gradients.
  bool is_rounded() const;

  torch::Tensor weight;  ///< [vocabulary, model], or as a quantized model directory has it
  PackedMatrix* packed;  ///< what `weight` is packed in where it is; null: never
  torch::Tensor bias;    ///< with which it is packed: that of the output layer where they share the table
};

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
  /// The layer for searches without LibTorch. Throws inference::Unsupported.
  inference::EmbeddingWeights inference_weights(const EmbeddingTable& table) const;
  DecodingCapabilities capabilities() const;
  /// How many positions a sentence may have.
  int64_t position_limit() const;

 private:
  torch::Tensor look_up(const torch::Tensor& ids, const EmbeddingTable& table) const;

  Options options_;
  std::shared_ptr<Positions> positions_;
};

}  // namespace nmt
