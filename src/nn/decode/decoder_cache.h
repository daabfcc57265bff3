#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nn/decode/key_value_cache.h"
#include "nn/decode/row_positions.h"

namespace nmt {

/// What one block of a decoder keeps.
struct BlockCache {
  std::unique_ptr<LayerCache> past;     ///< of its mixer, such as causal self-attention
  std::unique_ptr<SourceCache> source;  ///< of its cross-attention; null in a decoder without one
};

/// What all layers of a decoder keep during a search.
struct DecoderCache {
  std::unique_ptr<LayerCache> input;  ///< of positions that look back; null: they keep nothing
  std::vector<BlockCache> blocks;
};

/// Where the tokens of a step stand.
struct StepRows {
  RowPositions positions = 0;                 ///< of the first token of each row
  std::span<const SourcePlace> sources = {};  ///< where each row finds the encoder output of its sentence
};

}  // namespace nmt
