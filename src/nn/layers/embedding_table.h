#pragma once

#include <torch/types.h>

#include "nn/ops/packed_matrix.h"

namespace nmt {

/// A table of embeddings as rows of it are looked up. While weights are packed in 8 or 16 bits for decoding on the CPU,
/// a row has the numbers that products see: those that a quantized model directory has.
struct EmbeddingTable {
  EmbeddingTable(const torch::Tensor& table, PackedMatrix* packed_table = nullptr,
                 const torch::Tensor& output_bias = {})
      : weight(table), packed(packed_table), bias(output_bias) {}

  /// ids int64 [...] -> [..., model], float32. The row of `padding` gets no gradient; -1: every row does.
  torch::Tensor look_up(const torch::Tensor& ids, int64_t padding) const;

  torch::Tensor weight;  ///< [vocabulary, model], or as a quantized model directory has it
  PackedMatrix* packed;  ///< what `weight` is packed in where it is; null: never
  torch::Tensor bias;    ///< with which it is packed: that of the output layer where they share the table
};

}  // namespace nmt
