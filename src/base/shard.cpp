#include "base/shard.h"

#include <fmt/format.h>

#include <cstdio>
#include <limits>

#include "base/error.h"

namespace nmt {

bool Shard::contains(uint64_t hash) const {
  if (count == 1) return true;
  const uint64_t width = std::numeric_limits<uint64_t>::max() / static_cast<uint64_t>(count) + 1;
  return hash / width == static_cast<uint64_t>(number - 1);
}

Shard parse_shard(const std::string& text) {
  Shard shard;
  char behind = 0;
  if (std::sscanf(text.c_str(), "%6ld/%6ld%c", &shard.number, &shard.count, &behind) != 2 || shard.number < 1 ||
      shard.number > shard.count)
    throw Error(fmt::format("--shard {}: must be I/N with I from 1 to N, such as 2/8", text));
  return shard;
}

}  // namespace nmt
