#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "config/kinds.h"

namespace nmt {

/// How many they are, 0 to 2.
int64_t marker_count(SourceMarkers markers);

/// Tokens of a sentence of so many pieces as the encoder reads it.
int64_t source_length(int64_t pieces, SourceMarkers markers);

/// How an encoder reads a sentence: what stands around its pieces, and whether these come last to first (Sutskever et
/// al. 2014, sec. 3.3). Markers keep their places.
struct SourceForm {
  SourceForm(SourceMarkers markers = SourceMarkers::kEnd, bool reversed = false)  // NOLINT: most are not reversed
      : markers(markers), reversed(reversed) {}
  bool operator==(const SourceForm&) const = default;

  SourceMarkers markers;
  bool reversed;
};

/// Writes a sentence as the encoder reads it: source_length() ids from `row` on.
void write_source(std::span<const int32_t> pieces, const SourceForm& form, int64_t* row);

/// The other way: which token of the encoder's, of source_length(pieces), is the i-th of the text, markers counted.
/// Without reversal 0, 1, 2, ...
std::vector<int64_t> text_order(int64_t pieces, const SourceForm& form);

}  // namespace nmt
