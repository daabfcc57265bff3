#include "prepro/cut_pair.h"

#include <algorithm>

#include "text/codec/source_markers.h"

namespace nmt {

int64_t cut_to_maxlen(EncodedPair& pair, const DataConfig& data) {
  const auto cut = [](std::vector<int32_t>& pieces, int64_t limit) -> int64_t {
    const auto kept = static_cast<size_t>(std::max<int64_t>(limit, 0));
    if (pieces.size() <= kept) return 0;
    pieces.resize(kept);
    return 1;
  };
  return cut(pair.source, data.maxlen1 - marker_count(data.source_markers)) + cut(pair.target, data.maxlen2 - 1);
}

}  // namespace nmt
