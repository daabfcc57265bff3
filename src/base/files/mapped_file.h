#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace nmt {

/// A mapping of a whole file. Throws Error if it can't be opened.
/// Who shortens the file while it is mapped kills the reader (SIGBUS): replace files, as AtomicFile does.
class MappedFile {
 public:
  enum class Access {
    kRead,         ///< who writes crashes
    kCopyOnWrite,  ///< what is written stays in this mapping, the file is as it was
  };
  explicit MappedFile(const std::filesystem::path& path, Access access = Access::kRead);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// Gives the memory of all pages back: they are read again where they are touched again. What was written is lost.
  void release_pages() const;

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace nmt
