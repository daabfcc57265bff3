#pragma once

#include <cstdint>

#include "config/config.h"
#include "data/preparation/encoder.h"
#include "text/codec/codec.h"

namespace nmt {

/// Throws Error where data.source_prefix and data.source_markers leave no piece of data.maxlen1 to a sentence.
void require_room_for_sentence(const TextCodec& codec, const DataConfig& data);

/// data.too_long cut: takes off the pieces beyond data.maxlen1 and maxlen2, which count what stands around the pieces
/// (data.source_markers, and the target's end symbol). The text stays whole. Returns how many sides were cut.
int64_t cut_to_maxlen(EncodedPair& pair, const DataConfig& data);

}  // namespace nmt
