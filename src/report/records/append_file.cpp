#include "report/records/append_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"

namespace nmt {
namespace {

FileDescriptor open_to_append(const std::filesystem::path& path) {
  std::error_code none;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), none);
  return FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
}

}  // namespace

AppendFile::AppendFile(std::filesystem::path path) : path_(std::move(path)), file_(open_to_append(path_)) {
  struct stat status;
  if (file_.number() < 0 || ::fstat(file_.number(), &status) != 0) fail(errno);
  size_ = status.st_size;
}

void AppendFile::write(std::string_view record) {
  size_t written = 0;
  while (written < record.size()) {
    const ssize_t count = ::write(file_.number(), record.data() + written, record.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int reason = count == 0 ? EIO : errno;
      if (::ftruncate(file_.number(), size_) != 0) fail(errno);
      fail(reason);
    }
    written += static_cast<size_t>(count);
  }
  size_ += static_cast<int64_t>(record.size());
}

void AppendFile::truncate(int64_t size) {
  if (::ftruncate(file_.number(), size) != 0) fail(errno);
  size_ = size;
}

void AppendFile::fail(int reason) const {
  throw MachineError(fmt::format("{}: cannot write ({})", path_.string(), system_message(reason)));
}

}  // namespace nmt
