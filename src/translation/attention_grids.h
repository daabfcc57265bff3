#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/searchable_model.h"
#include "text/aligned_translation.h"
#include "text/codec/codec.h"

namespace nmt {

/// The weights of all attention layers for a sentence and a translation of it (pieces, without special ones), by
/// teacher forcing. Where the target looks at the source, a query stands for the token that is written next; in a
/// decoder's self-attention queries and keys are the tokens read. Empty where the model has no attention.
std::vector<AttentionGrid> attention_grids(SearchableModel& model, const TextCodec& codec,
                                           std::span<const int32_t> source, std::span<const int32_t> target);

}  // namespace nmt
