#pragma once

#include <cstdint>
#include <string>

namespace nmt {

/// One of `count` parts of a text that are worked on apart, such as on several machines.
struct Shard {
  int64_t number = 1, count = 1;  ///< number: from 1
  /// The lines of a text that are in the part, from 0: from the first to before the end. Sizes differ by one at most.
  int64_t first_line(int64_t lines) const { return lines * (number - 1) / count; }
  int64_t end_line(int64_t lines) const { return lines * number / count; }
  /// Where the parts are ranges of hashes: whether this one has what has such a hash.
  bool contains(uint64_t hash) const;
};

/// "2/8". Throws Error, as of the option --shard.
Shard parse_shard(const std::string& text);

}  // namespace nmt
