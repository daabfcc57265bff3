#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace nmt {

/// The pieces of a pair that is in no corpus, without <s> and </s>.
struct IdPair {
  std::vector<int32_t> source, target;
};

/// The pairs whose text an epoch changes, from its plan to its batches, so that each is encoded once: 4 bytes an id,
/// 256 MB at most. What has no space is encoded twice. For one thread.
class ChangedPairs {
 public:
  explicit ChangedPairs(size_t most_ids = size_t{1} << 26) : most_ids_(most_ids) {}

  std::optional<IdPair> find(int64_t pair) const;
  void keep(int64_t pair, const IdPair& ids);  ///< which find() did not find
  void forget();                               ///< all pairs: another epoch begins, or another shard of one

 private:
  struct Place {
    size_t begin = 0;
    uint32_t source = 0, target = 0;  // how many ids
  };
  size_t most_ids_;
  std::vector<int32_t> ids_;
  std::unordered_map<int64_t, Place> places_;
};

}  // namespace nmt
