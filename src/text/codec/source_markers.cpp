#include "text/codec/source_markers.h"

#include <algorithm>

#include "text/tokenizer.h"

namespace nmt {

int64_t marker_count(SourceMarkers markers) {
  return markers == SourceMarkers::kBoth ? 2 : markers == SourceMarkers::kEnd ? 1 : 0;
}

int64_t source_length(int64_t pieces, SourceMarkers markers) {
  return std::max<int64_t>(1, pieces + marker_count(markers));
}

void write_source(std::span<const int32_t> pieces, SourceMarkers markers, int64_t* row) {
  if (markers == SourceMarkers::kBoth) *row++ = SpecialIds::kBegin;
  row = std::copy(pieces.begin(), pieces.end(), row);
  if (markers != SourceMarkers::kNone || pieces.empty()) *row = SpecialIds::kEnd;
}

}  // namespace nmt
