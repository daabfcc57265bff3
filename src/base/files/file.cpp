#include "base/files/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "base/files/partial_name.h"

namespace nmt {
namespace {

constexpr size_t kReadSize = 1 << 20;

void check(int done) {
  if (done != 1) throw MachineError("SHA-256: the cryptography library refuses");
}

}  // namespace

struct Sha256::State {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  check(state_->context ? EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) : 0);
}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) { check(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size())); }

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  check(EVP_DigestFinal_ex(state_->context.get(), digest.data(), &size));
  return fmt::format("{:02x}", fmt::join(digest.data(), digest.data() + size, ""));
}

std::string sha256_of_file(const std::filesystem::path& path) {
  const FileDescriptor file = open_for_reading(path);
  std::vector<char> bytes(kReadSize);
  Sha256 sum;
  while (const size_t count = read_some(file.number(), bytes.data(), bytes.size(), path.string())) {
    sum.add({bytes.data(), count});
  }
  return sum.hex();
}

std::string sha256_of_bytes(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.hex();
}

namespace {

constexpr size_t kWriteBuffer = 256 << 10;

std::filesystem::path folder_of(const std::filesystem::path& path) {
  const auto folder = path.parent_path();
  return folder.empty() ? "." : folder;
}

/// The file that a write to `path` replaces: the target of a symbolic link, else path itself.
/// Throws Error for what a rename would destroy or cannot replace.
std::filesystem::path file_to_replace(const std::filesystem::path& path) {
  std::error_code none;
  const auto status = std::filesystem::status(path, none);
  if (std::filesystem::is_directory(status) || !path.has_filename()) {
    throw Error(fmt::format("{}: is a folder; name a file", path.string()));
  }
  if (!std::filesystem::exists(status)) return path;
  if (!std::filesystem::is_regular_file(status)) {
    throw Error(fmt::format("{}: is a device or pipe; name a regular file", path.string()));
  }
  if (!std::filesystem::is_symlink(path, none)) return path;
  const auto target = std::filesystem::canonical(path, none);
  return none ? path : target;
}

std::filesystem::path descriptor_path(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

/// A file that is gone with its descriptor, even after a kill; -1 where the file system has none.
FileDescriptor make_nameless_file(const std::filesystem::path& folder, mode_t mode) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  const bool can_be_named = descriptor >= 0 && ::access(descriptor_path(descriptor).c_str(), F_OK) == 0;
  if (descriptor >= 0 && !can_be_named) ::close(descriptor);
  return FileDescriptor(can_be_named ? descriptor : -1);
}

/// Gives a nameless file a name beside `place`; empty where the system refuses, with errno set.
std::filesystem::path name_file(int descriptor, const std::filesystem::path& place) {
  const auto file = descriptor_path(descriptor);
  for (;;) {
    auto name = partial_name(place);
    if (::linkat(AT_FDCWD, file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return name;
    if (errno != EEXIST) return {};
  }
}

[[noreturn]] void throw_cannot_open(const std::filesystem::path& path, int reason) {
  std::error_code none;
  const auto folder = folder_of(path);
  if (!std::filesystem::is_directory(folder, none) && (reason == ENOENT || reason == ENOTDIR)) {
    throw Error(fmt::format("{}: the folder {} does not exist; make it first", path.string(), folder.string()));
  }
  throw_path_error(fmt::format("{}: cannot write ({})", path_in_place(path).string(), system_message(reason)),
                   {reason, std::generic_category()});
}

/// Checks the length of the name that commit() needs: a file without one would be refused after all the work.
void refuse_long_name(const std::filesystem::path& path) {
  struct stat none;
  if (::lstat(partial_name(path).c_str(), &none) != 0 && errno == ENAMETOOLONG) throw_cannot_open(path, errno);
}

std::string read_to_the_end(const FileDescriptor& file, const std::filesystem::path& path, size_t max_bytes) {
  struct stat status;
  std::string bytes;
  size_t size = 0;
  // One byte more than the size, so that the end is seen without growing; /proc and pipes tell a size of 0.
  if (::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode)) {
    bytes.resize(std::min(static_cast<size_t>(status.st_size), max_bytes) + 1);
  }
  for (;;) {
    if (size > max_bytes) throw Error(fmt::format("{}: holds more than {} bytes", path.string(), max_bytes));
    if (size == bytes.size()) bytes.resize(std::max<size_t>(4096, 2 * size));
    const size_t count = read_some(file.number(), bytes.data() + size, bytes.size() - size, path.string());
    if (count == 0) break;
    size += count;
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

std::string read_file(const std::filesystem::path& path, size_t max_bytes) {
  return read_to_the_end(open_for_reading(path), path, max_bytes);
}

std::string read_regular_file(const std::filesystem::path& path, size_t max_bytes) {
  return read_to_the_end(open_regular_file(path, O_RDONLY), path, max_bytes);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void check_writable(const std::filesystem::path& path) { const AtomicFile file(path); }

AtomicFile::AtomicFile(std::filesystem::path path, std::string_view key)
    : path_(file_to_replace(path)), buffer_(kWriteBuffer) {
  refuse_long_name(path_);
  struct stat old;
  const bool replaces = ::stat(path_.c_str(), &old) == 0;
  const mode_t mode = replaces ? old.st_mode & 0777 : 0666;
  if (!key.empty()) kept_name_ = fmt::format("{}.{}.partial", path_.string(), key);
  FileDescriptor file = open_kept();
  if (file.number() < 0) file = make_nameless_file(folder_of(path_), mode);
  if (file.number() < 0) {
    auto named = make_partial_file(path_, mode);
    if (named.descriptor.number() < 0) throw_cannot_open(path_, errno);
    file = std::move(named.descriptor);
    partial_ = std::move(named.path);
  }
  if (replaces) ::fchmod(file.number(), mode);  // what the user's mask took away
  file_ = ::fdopen(file.number(), "wb");
  if (!file_) throw_cannot_open(path_, errno);
  file.release();
  std::setvbuf(file_, buffer_.data(), _IOFBF, buffer_.size());
}

// Nothing is put through a link, or into a file of somebody else or under two names.
FileDescriptor AtomicFile::open_kept() {
  if (kept_name_.empty()) return FileDescriptor(-1);
  FileDescriptor file(::open(kept_name_.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status;
  const bool is_own = file.number() >= 0 && ::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode) &&
                      status.st_uid == ::geteuid() && status.st_nlink == 1 &&
                      ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
  if (!is_own) return FileDescriptor(-1);
  position_ = ::lseek(file.number(), 0, SEEK_END);
  partial_ = kept_name_;
  is_kept_ = true;
  return file;
}

AtomicFile::~AtomicFile() {
  if (file_) std::fclose(file_);
  if (!partial_.empty() && !is_kept_) ::unlink(partial_.c_str());
}

void AtomicFile::keep() {
  if (kept_name_.empty()) return;
  if (std::fflush(file_) != 0) fail();
  if (is_kept_ || ::flock(::fileno(file_), LOCK_EX | LOCK_NB) != 0) return;
  const auto from = partial_.empty() ? descriptor_path(::fileno(file_)) : partial_;
  if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, kept_name_.c_str(), AT_SYMLINK_FOLLOW) != 0) return;
  if (!partial_.empty()) ::unlink(partial_.c_str());
  partial_ = kept_name_;
  is_kept_ = true;
}

int64_t AtomicFile::cut_to_lines(int64_t most) {
  if (position_ == 0) return 0;
  std::vector<char> bytes(kWriteBuffer);
  int64_t lines = 0, end = 0, at = 0;  // end: of the lines
  for (ssize_t count; lines < most && (count = ::pread(::fileno(file_), bytes.data(), bytes.size(), at)) > 0;
       at += count)
    for (ssize_t i = 0; i < count && lines < most; ++i)
      if (bytes[static_cast<size_t>(i)] == '\n') {
        ++lines;
        end = at + i + 1;
      }
  if (::ftruncate(::fileno(file_), end) != 0 || std::fseek(file_, end, SEEK_SET) != 0) fail();
  position_ = end;
  return lines;
}

void AtomicFile::fail() const {
  const int reason = errno;
  throw MachineError(fmt::format("{}: cannot write ({})", path_in_place(path_).string(), system_message(reason)));
}

void AtomicFile::write(std::string_view bytes) {
  if (bytes.empty()) return;  // its data() may be null, which fwrite does not allow
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
  position_ += static_cast<int64_t>(bytes.size());
}

void AtomicFile::commit() {
  if (std::fflush(file_) != 0) fail();
  // EINVAL: a file system that has no sync.
  if (::fsync(::fileno(file_)) != 0 && errno != EINVAL) fail();
  if (partial_.empty()) {
    partial_ = name_file(::fileno(file_), path_);
    if (partial_.empty()) fail();
  }
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail();
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) fail();
  partial_.clear();
  sync_directory(folder_of(path_));
}

void sync_directory(const std::filesystem::path& directory) {
  const FileDescriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.number() < 0 || (::fsync(folder.number()) != 0 && errno != EINVAL)) {
    throw MachineError(fmt::format("{}: cannot sync the folder ({})", directory.string(), system_message(errno)));
  }
}

}  // namespace nmt
