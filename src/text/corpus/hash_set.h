#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/mapped_file.h"

namespace nmt {

/// Sorted 64-bit hashes in a file without a name, mapped: the system frees it with the object, even after a kill. Takes
/// 8 bytes of memory for 4 KiB of file.
class HashFile {
 public:
  /// The hashes of another file, if there is one, and these, which are sorted and none of which stands there. Throws
  /// MachineError (disk full).
  static std::unique_ptr<HashFile> merge(const std::filesystem::path& folder, const HashFile* old,
                                         std::span<const uint64_t> added);
  bool contains(uint64_t hash) const;  ///< looks into one page of the file
  int64_t size() const { return std::ssize(hashes()); }

 private:
  explicit HashFile(const std::filesystem::path& path);
  std::span<const uint64_t> hashes() const;

  MappedFile file_;
  std::vector<uint64_t> first_of_page_;
};

/// A 64-bit hash of a text, the same on every machine. Among 5 million texts two different ones share a hash with a
/// probability of 7e-7.
uint64_t hash_of_text(std::string_view text);

/// A set of 64-bit hashes in 12 to 24 bytes each: what duplicates of millions of pairs are found with. With a folder,
/// memory is bounded: at most 0.4 GB, whatever the set holds.
class HashSet {
 public:
  HashSet() = default;
  /// Whenever so many hashes are in memory, they move to a file without a name in the folder, 8 bytes each.
  explicit HashSet(std::filesystem::path folder, int64_t most_in_memory = 22'000'000)
      : folder_(std::move(folder)), most_in_memory_(most_in_memory) {}

  bool insert(uint64_t hash);  ///< false if it was there; throws MachineError (disk full)
  bool contains(uint64_t hash) const;
  int64_t size() const { return size_ + (file_ ? file_->size() : 0); }

 private:
  size_t slot_of(uint64_t hash) const;  ///< where it stands, or the free slot where it belongs
  void grow();
  void move_to_file();

  std::vector<uint64_t> slots_ = std::vector<uint64_t>(1024);  // 0: free
  int64_t size_ = 0;                                           // of slots_
  std::filesystem::path folder_;
  int64_t most_in_memory_ = std::numeric_limits<int64_t>::max();
  std::unique_ptr<const HashFile> file_;
};

}  // namespace nmt
