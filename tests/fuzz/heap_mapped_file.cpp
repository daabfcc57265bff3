// MappedFile for fuzzing, in place of the library's: the bytes stand on the heap, so that the address sanitizer sees
// who reads beyond them. A mapping is followed by zeros up to the end of its page.
#include <cstring>
#include <utility>

#include "base/files/file.h"
#include "base/files/mapped_file.h"

namespace nmt {

MappedFile::MappedFile(const std::filesystem::path& path, Access) {
  const std::string bytes = read_file(path);
  size_ = bytes.size();
  if (size_ == 0) return;
  auto* data = new std::byte[size_];
  std::memcpy(data, bytes.data(), size_);
  data_ = data;
}

void MappedFile::release_pages() const {}

void MappedFile::detach() const {}

MappedFile::~MappedFile() { delete[] data_; }

// Nobody else has the bytes.
MappedFileGuard::MappedFileGuard(const MappedFile&, std::filesystem::path path) : path_(std::move(path)) {}

MappedFileGuard::~MappedFileGuard() = default;

void MappedFileGuard::check() const {}

}  // namespace nmt
