#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "models/interface/model.h"
#include "training/packed/packed_operations.h"

namespace nmt {

/// One side of a batch: its real tokens, laid end to end, on the device.
struct PackedSide {
  torch::Tensor words, positions, segments;  ///< int32 [tokens]; a segment is the number of a sentence
  WordGroups by_word, by_position;           ///< the second one where positions are learned
  int64_t tokens() const { return words.size(0); }
};

/// A batch as the kernels take it.
struct PackedBatch {
  PackedSide source, target;
  std::vector<AttentionTiles> source_tiles, target_tiles, cross_tiles;  ///< of attention's three kinds
  torch::Tensor labels;                                                 ///< int32 [target tokens], or [pairs]
  torch::Tensor paired, places;  ///< of pairs: the rows of both predictions of a token side by side, int32 [target
                                 ///< tokens], and where each row stands there; else undefined
  torch::Tensor key;             ///< int64 [1]: of dropout
  torch::Tensor scale;           ///< float32 [1]: what gradients are multiplied by
  torch::Tensor block;           ///< int32: the memory of all of these
};

/// Words of both sides.
struct PlannedRows {
  int64_t source = 0, target = 0;
};

struct BatchPlanOptions {
  int64_t largest_tile = 128;      ///< 64 or 128
  bool learned_positions = false;  ///< their gradients are wanted
  bool pairs = false;              ///< the second half of the batch is the first one once more (doubled())
  /// Filled up to so many words with padding, in sentences of its own that have no labels: the sizes of all arrays
  /// follow from these numbers then, and the block of another batch may take the place of this one's. At least
  /// kFewestFilled more than there are, no sentence longer than kSmallTile; with pairs an even number on the target
  /// side.
  std::optional<PlannedRows> rows = {};
  uint64_t key = 0;
  double scale = 1;
};

constexpr int64_t kSmallTile = 64, kFewestFilled = 16;

/// Whether no sentence is empty or longer than a tile.
bool fits_into_tiles(const std::vector<int64_t>& source_lengths, const std::vector<int64_t>& target_lengths,
                     int64_t largest_tile);

/// Made by the host while the device works, and copied there at once. batch: on the CPU, its lengths fit into tiles.
PackedBatch plan_batch(const TensorBatch& batch, const BatchPlanOptions& options, torch::Device device);

}  // namespace nmt
