#include "base/files/file_descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace nmt {

namespace {

/// For a file that is missing, where its name is one that a shell would have expanded.
std::string_view pattern_hint(const std::string& name) {
  const bool is_pattern = name.starts_with('~') || name.find('*') != std::string::npos;
  return is_pattern ? "; ~ and * are not expanded here, write the whole name" : "";
}

[[noreturn]] void throw_cannot_open(const std::filesystem::path& path, const char* what, int reason) {
  const std::string message = fmt::format("{}: cannot {} ({}){}", path.string(), what, system_message(reason),
                                          reason == ENOENT ? pattern_hint(path.string()) : "");
  if (reason == EMFILE || reason == ENFILE || reason == ENOMEM || reason == EIO) throw MachineError(message);
  throw Error(message);
}

void refuse_folder(const std::filesystem::path& path, const struct stat& status) {
  if (S_ISDIR(status.st_mode)) throw Error(fmt::format("{}: is a folder; name a file", path.string()));
}

void refuse_pipe(const std::filesystem::path& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    throw Error(fmt::format("{}: is a pipe or device; put a regular file there", path.string()));
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) ::close(number_);
}

std::string system_message(int error_number) { return std::generic_category().message(error_number); }

bool wait_for_input(int descriptor, int milliseconds) {
  pollfd input{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, milliseconds) > 0;
}

FileDescriptor open_for_reading(const std::filesystem::path& path, UnwrittenPipe unwritten) {
  // Not blocking, for open() would wait for the writer of a named pipe, and no signal could end that.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) throw_cannot_open(path, "read", errno);
  struct stat status {};
  if (::fstat(file.number(), &status) == 0) refuse_folder(path, status);
  ::fcntl(file.number(), F_SETFL, ::fcntl(file.number(), F_GETFL) & ~O_NONBLOCK);
  while (unwritten == UnwrittenPipe::kWait && S_ISFIFO(status.st_mode) && !wait_for_input(file.number(), -1)) {
  }
  return file;
}

void require_regular_file(const std::filesystem::path& path) {
  struct stat status {};  // where there is nothing, or a folder, opening says so
  if (::stat(path.c_str(), &status) == 0) refuse_pipe(path, status);
}

FileDescriptor open_regular_file(const std::filesystem::path& path, int flags, unsigned mode) {
  FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode));
  const int reason = errno;
  if (file.number() < 0) require_regular_file(path);  // a pipe that nobody reads cannot be opened to write
  struct stat status {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0)
    throw_cannot_open(path, (flags & O_ACCMODE) == O_RDONLY ? "read" : "write", reason);
  refuse_folder(path, status);
  refuse_pipe(path, status);
  return file;
}

size_t read_some(int descriptor, char* bytes, size_t capacity, const std::string& name) {
  for (;;) {
    const ssize_t count = ::read(descriptor, bytes, capacity);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno == EINTR) continue;
    const int reason = errno;
    const std::string message = fmt::format("{}: cannot read ({})", name, system_message(reason));
    // A folder or a closed descriptor behind standard input is for the user to fix.
    if (reason == EISDIR || reason == EBADF) throw Error(message);
    throw MachineError(message);
  }
}

}  // namespace nmt
