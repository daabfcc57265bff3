#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/files/mapped_file.h"

namespace nmt {

/// Sorted 64-bit hashes in a file without a name, mapped: the system frees it with the object, even after a kill. Takes
/// 8 bytes of memory for 4 KiB of file.
class HashFile {
 public:
  /// Those of another file, if there is one, and these, which are sorted and none of which stands there. Throws
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

}  // namespace nmt
