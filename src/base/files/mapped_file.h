#pragma once

#include <cstddef>
#include <cstdint>
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
  /// Lets the file go; its bytes may not be read any more, though nothing else takes their addresses.
  void detach() const;

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// While it lives, a mapped file may be cut short or written to by others: reading on is safe (what is gone reads as
/// zeros), and check() tells. A file that was replaced by another of its name is whole. At most kMost at a time.
/// Of Linux; elsewhere only check() works.
class MappedFileGuard {
 public:
  static constexpr size_t kMost = 16;

  /// To be made before the file is read. Throws MachineError where there are too many.
  MappedFileGuard(const MappedFile& mapped, std::filesystem::path path);
  ~MappedFileGuard();
  MappedFileGuard(const MappedFileGuard&) = delete;
  /// Throws Error where the file is not what it was when the guard was made.
  void check() const;

 private:
  struct Identity {
    uint64_t device = 0, inode = 0;
    int64_t size = -1, seconds = 0, nanoseconds = 0;
    bool operator==(const Identity&) const = default;
  };
  static Identity identity_of(const std::filesystem::path& path);

  std::filesystem::path path_;
  Identity before_;
  size_t slot_ = kMost;
};

}  // namespace nmt
