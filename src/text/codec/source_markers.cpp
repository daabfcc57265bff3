#include "text/codec/source_markers.h"

#include <algorithm>
#include <numeric>

#include "text/tokenizer.h"

namespace nmt {

int64_t marker_count(SourceMarkers markers) {
  return markers == SourceMarkers::kBoth ? 2 : markers == SourceMarkers::kEnd ? 1 : 0;
}

int64_t source_length(int64_t pieces, SourceMarkers markers) {
  return std::max<int64_t>(1, pieces + marker_count(markers));
}

void write_source(std::span<const int32_t> pieces, const SourceForm& form, int64_t* row) {
  if (form.markers == SourceMarkers::kBoth) *row++ = SpecialIds::kBegin;
  row = form.reversed ? std::reverse_copy(pieces.begin(), pieces.end(), row)
                      : std::copy(pieces.begin(), pieces.end(), row);
  if (form.markers != SourceMarkers::kNone || pieces.empty()) *row = SpecialIds::kEnd;
}

std::vector<int64_t> text_order(int64_t pieces, const SourceForm& form) {
  std::vector<int64_t> order(source_length(pieces, form.markers));
  std::iota(order.begin(), order.end(), 0);
  const auto first = order.begin() + (form.markers == SourceMarkers::kBoth ? 1 : 0);
  if (form.reversed) std::reverse(first, first + pieces);
  return order;
}

}  // namespace nmt
