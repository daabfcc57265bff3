#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace nmt {

/// A read-only mapping of a whole file. Throws Error if it can't be opened.
/// Who shortens the file while it is mapped kills the reader (SIGBUS): replace files, as AtomicFile does.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace nmt
