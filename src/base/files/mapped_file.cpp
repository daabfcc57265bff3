#include "base/files/mapped_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/error.h"
#include "base/files/file_descriptor.h"

namespace nmt {

MappedFile::MappedFile(const std::filesystem::path& path, Access access) {
  const FileDescriptor file = open_for_reading(path);
  struct stat status;
  if (::fstat(file.number(), &status) != 0) {
    throw MachineError(fmt::format("{}: cannot read ({})", path.string(), system_message(errno)));
  }
  if (!S_ISREG(status.st_mode)) throw Error(fmt::format("{}: is not a regular file; name one", path.string()));
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;  // mmap refuses a length of 0
  const bool writable = access == Access::kCopyOnWrite;
  void* data = ::mmap(nullptr, size_, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                      writable ? MAP_PRIVATE : MAP_SHARED, file.number(), 0);
  if (data == MAP_FAILED) {
    throw MachineError(fmt::format("{}: cannot map {} bytes ({})", path.string(), size_, system_message(errno)));
  }
  data_ = static_cast<const std::byte*>(data);
}

void MappedFile::release_pages() const {
  if (data_) ::madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace nmt
