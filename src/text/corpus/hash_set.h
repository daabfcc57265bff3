#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace nmt {

/// A 64-bit hash of a text, the same on every machine. Among 5 million texts two different ones share a hash with a
/// probability of 7e-7.
uint64_t hash_of_text(std::string_view text);

/// A set of 64-bit hashes in 12 to 24 bytes each: what duplicates of millions of pairs are found with.
class HashSet {
 public:
  bool insert(uint64_t hash);  ///< false if it was there
  bool contains(uint64_t hash) const;
  int64_t size() const { return size_; }

 private:
  size_t slot_of(uint64_t hash) const;  ///< where it stands, or the free slot where it belongs
  void grow();

  std::vector<uint64_t> slots_ = std::vector<uint64_t>(1024);  // 0: free
  int64_t size_ = 0;
};

}  // namespace nmt
