#include "base/files/mapped_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/files/file_descriptor.h"

namespace nmt {

MappedFile::MappedFile(const std::filesystem::path& path, Access access) {
  const FileDescriptor file = open_for_reading(path, UnwrittenPipe::kReturn);  // a pipe is refused, not waited for
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

void MappedFile::detach() const {
  if (!data_) return;
  auto* data = const_cast<std::byte*>(data_);
  if (::mmap(data, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    throw MachineError(fmt::format("cannot let a mapped file go ({})", system_message(errno)));
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

namespace {

// What a signal handler can see: files that are guarded now.
struct Guarded {
  std::atomic<uintptr_t> begin = 0, end = 0;
  std::atomic<bool> lost = false;
};
std::array<Guarded, MappedFileGuard::kMost> guarded;
std::mutex guards_mutex;
size_t guards = 0;
struct sigaction handler_before;
uintptr_t page_size = 4096;

// A page of a file that has become shorter becomes a page of zeros. Only calls that a handler may make.
void on_bus_error(int signal, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (auto& file : guarded) {
    if (at < file.begin.load() || at >= file.end.load()) continue;
    const int error = errno;
    file.lost = true;
    void* page = ::mmap(reinterpret_cast<void*>(at / page_size * page_size), page_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    errno = error;
    if (page != MAP_FAILED) return;
  }
  ::sigaction(signal, &handler_before, nullptr);  // the access is repeated, and ends as it would have
}

}  // namespace

MappedFileGuard::MappedFileGuard(const MappedFile& mapped, std::filesystem::path path)
    : path_(std::move(path)), before_(identity_of(path_)) {
  const std::lock_guard lock(guards_mutex);
  for (slot_ = 0; slot_ < kMost && guarded[slot_].end != 0; ++slot_) {
  }
  if (slot_ == kMost) throw MachineError(fmt::format("{}: too many files are loaded at a time", path_.string()));
  auto& own = guarded[slot_];
  own.lost = false;
  own.begin = reinterpret_cast<uintptr_t>(mapped.bytes().data());
  own.end = own.begin + std::max<size_t>(mapped.bytes().size(), 1);
  if (guards++ > 0) return;
  page_size = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &handler_before);
}

MappedFileGuard::~MappedFileGuard() {
  const std::lock_guard lock(guards_mutex);
  if (--guards == 0) ::sigaction(SIGBUS, &handler_before, nullptr);
  guarded[slot_].begin = 0;
  guarded[slot_].end = 0;
}

MappedFileGuard::Identity MappedFileGuard::identity_of(const std::filesystem::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .seconds = status.st_mtim.tv_sec,
          .nanoseconds = status.st_mtim.tv_nsec};
}

void MappedFileGuard::check() const {
  const Identity now = identity_of(path_);
  const bool same_file = now.device == before_.device && now.inode == before_.inode;
  if (!guarded[slot_].lost && (now == before_ || !same_file)) return;
  throw Error(
      fmt::format("{}: was changed while it was read; start again, and replace a model by renaming another "
                  "folder into its place",
                  path_.string()));
}

}  // namespace nmt
