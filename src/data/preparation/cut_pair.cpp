#include "data/preparation/cut_pair.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "text/codec/source_markers.h"

namespace nmt {

void require_room_for_sentence(const TextCodec& codec, const DataConfig& data) {
  const int64_t prefix = codec.prefix_length(), markers = marker_count(data.source_markers);
  if (prefix + markers >= data.maxlen1)
    throw Error(
        fmt::format("data.maxlen1: {} leaves no room for a sentence: the pieces of data.source_prefix ({}) and the "
                    "tokens of data.source_markers ({}) count, too; raise it",
                    data.maxlen1, prefix, markers));
}

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
