#include "search/searchable_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace nmt {

int64_t alignment_layer_of(int64_t layer, int64_t layers) {
  if (layer > layers)
    throw Error(fmt::format("decoding.alignment_layer {}: the decoder has {}; use 1 to {}, or 0 for the last but one",
                            layer, layers, layers));
  return layer > 0 ? layer - 1 : std::max<int64_t>(layers - 2, 0);
}

void check_alignment_head(int64_t head, int64_t heads) {
  if (head > heads)
    throw Error(fmt::format("decoding.alignment_head {}: the decoder has {}; use 1 to {}, or 0 for their mean", head,
                            heads, heads));
}

}  // namespace nmt
