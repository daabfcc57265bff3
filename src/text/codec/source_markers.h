#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace nmt {

/// What stands around the pieces of a source sentence when the encoder reads it.
enum class SourceMarkers {
  kEnd,   ///< pieces </s>
  kBoth,  ///< <s> pieces </s>
  kNone,  ///< pieces; but an empty sentence is </s>, so that the encoder has something to read
};

/// "end", "both" or "none", as in the configuration. Throws Error for anything else.
SourceMarkers parse_source_markers(const std::string& name);
const char* source_markers_name(SourceMarkers markers);

/// How many they are, 0 to 2.
int64_t marker_count(SourceMarkers markers);

/// Tokens of a sentence of so many pieces as the encoder reads it.
int64_t source_length(int64_t pieces, SourceMarkers markers);

/// Writes a sentence as the encoder reads it: source_length() ids from `row` on.
void write_source(std::span<const int32_t> pieces, SourceMarkers markers, int64_t* row);

}  // namespace nmt
