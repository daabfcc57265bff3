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
  require_regular_file(path);
  const FileDescriptor file = open_for_reading(path);
  struct stat status;
  if (::fstat(file.number(), &status) != 0) {
    throw MachineError(fmt::format("{}: cannot read ({})", path.string(), system_message(errno)));
  }
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

void on_bus_error(int signal, siginfo_t* info, void*);

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_bus_error;
}

bool are_same(const struct sigaction& one, const struct sigaction& other) {
  if ((one.sa_flags & SA_SIGINFO) != (other.sa_flags & SA_SIGINFO)) return false;
  return (one.sa_flags & SA_SIGINFO) != 0 ? one.sa_sigaction == other.sa_sigaction : one.sa_handler == other.sa_handler;
}

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
  struct sigaction top;
  ::sigaction(signal, &handler_before, &top);  // the access is repeated, and ends as it would have
  if (is_ours(top) || !are_same(top, handler_before)) return;
  ::signal(signal, SIG_DFL);  // the handler before calls this one: they would never end
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
  struct sigaction before;
  ::sigaction(SIGBUS, &action, &before);
  if (!is_ours(before)) handler_before = before;  // it is where somebody put it back who had stood over it
}

MappedFileGuard::~MappedFileGuard() {
  const std::lock_guard lock(guards_mutex);
  struct sigaction now;
  if (--guards == 0 && ::sigaction(SIGBUS, nullptr, &now) == 0 && is_ours(now))  // not that of another part meanwhile
    ::sigaction(SIGBUS, &handler_before, nullptr);
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
