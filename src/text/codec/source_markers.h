#pragma once

#include <cstdint>
#include <span>

#include "config/kinds.h"

namespace nmt {

/// How many they are, 0 to 2.
int64_t marker_count(SourceMarkers markers);

/// Tokens of a sentence of so many pieces as the encoder reads it.
int64_t source_length(int64_t pieces, SourceMarkers markers);

/// Writes a sentence as the encoder reads it: source_length() ids from `row` on.
void write_source(std::span<const int32_t> pieces, SourceMarkers markers, int64_t* row);

}  // namespace nmt
