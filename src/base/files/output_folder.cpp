#include "base/files/output_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/error.h"
#include "base/files/file.h"

namespace nmt {
namespace {

/// Without a slash at the end, and the folder itself where it is a symbolic link.
std::filesystem::path resolved(const std::filesystem::path& path) {
  std::error_code none;
  const auto canonical = std::filesystem::canonical(path, none);
  if (!none) return canonical;
  const auto normal = std::filesystem::absolute(path).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

[[noreturn]] void throw_cannot_make(const std::filesystem::path& path, const std::error_code& reason) {
  const std::string message = fmt::format("{}: cannot make the folder ({})", path.string(), reason.message());
  if (reason == std::errc::permission_denied || reason == std::errc::not_a_directory ||
      reason == std::errc::file_exists || reason == std::errc::read_only_file_system ||
      reason == std::errc::operation_not_permitted) {
    throw Error(message);
  }
  throw MachineError(message);
}

bool is_same_folder(int descriptor, const std::filesystem::path& path) {
  struct stat opened, named;
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

/// Makes the folder, if need be, and locks it against other programs.
FileDescriptor make_and_lock(const std::filesystem::path& path, const std::filesystem::path& final_path) {
  for (;;) {
    std::error_code reason;
    std::filesystem::create_directories(path, reason);
    if (reason) throw_cannot_make(path, reason);
    FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.number() < 0) {
      if (errno == ENOENT) continue;  // renamed or removed meanwhile
      throw_cannot_make(path, {errno, std::generic_category()});
    }
    if (::flock(folder.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw Error(fmt::format("{}: another program is writing there; wait for its end", final_path.string()));
    }
    if (is_same_folder(folder.number(), path)) return folder;
  }
}

void remove_contents(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) std::filesystem::remove_all(entry.path());
}

}  // namespace

OutputFolder::OutputFolder(const std::filesystem::path& final_path)
    : final_(resolved(final_path)), partial_(final_.string() + ".partial"), lock_(make_and_lock(partial_, final_)) {
  std::error_code none;
  if (std::filesystem::exists(final_, none) && !std::filesystem::is_directory(final_, none)) {
    std::filesystem::remove(partial_, none);
    throw Error(fmt::format("{}: is a file; name a folder", final_.string()));
  }
  remove_contents(partial_);
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!committed_) std::filesystem::remove_all(partial_, ignored);
}

void OutputFolder::commit() {
  sync_directory(partial_);
  std::error_code none;
  const bool replaces = std::filesystem::exists(final_, none);
  const unsigned flags = replaces ? RENAME_EXCHANGE : 0;
  if (::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, final_.c_str(), flags) != 0) {
    if (!replaces || (errno != EINVAL && errno != ENOSYS)) {
      throw MachineError(fmt::format("{}: cannot be put in place ({})", final_.string(), system_message(errno)));
    }
    // A file system that cannot exchange names: for a moment there is none.
    std::filesystem::remove_all(final_);
    std::filesystem::rename(partial_, final_);
  }
  committed_ = true;
  sync_directory(final_.parent_path());
  std::filesystem::remove_all(partial_, none);  // the old files, after an exchange
}

}  // namespace nmt
