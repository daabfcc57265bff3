#pragma once

#include <algorithm>
#include <cstdint>

namespace nmt {

/// What a part of a decoder, or a whole model, can do in a search. A model can do what all its parts can.
struct DecodingCapabilities {
  /// The rows of a step may stand at different positions: sentences join a search that is under way (continuous
  /// batching).
  bool ragged_positions = false;
  /// n tokens that are fed at once leave the bits of n single steps.
  bool exact_prefill = false;
  /// How many positions a static cache can hold (CacheForm::kStatic); 0: there is none.
  int64_t static_positions = 0;

  friend DecodingCapabilities operator&(const DecodingCapabilities& a, const DecodingCapabilities& b) {
    return {.ragged_positions = a.ragged_positions && b.ragged_positions,
            .exact_prefill = a.exact_prefill && b.exact_prefill,
            .static_positions = std::min(a.static_positions, b.static_positions)};
  }
};

}  // namespace nmt
