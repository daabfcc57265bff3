#include "text/codec/source_markers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "text/tokenizer.h"

namespace nmt {

SourceMarkers parse_source_markers(const std::string& name) {
  for (const auto markers : {SourceMarkers::kEnd, SourceMarkers::kBoth, SourceMarkers::kNone}) {
    if (name == source_markers_name(markers)) return markers;
  }
  throw Error(fmt::format("source markers '{}': use end, both or none", name));
}

const char* source_markers_name(SourceMarkers markers) {
  switch (markers) {
    case SourceMarkers::kEnd:
      return "end";
    case SourceMarkers::kBoth:
      return "both";
    case SourceMarkers::kNone:
      return "none";
  }
  return "";
}

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
