#include "base/folders/output_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/partial_name.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

// In NAME.XXXXXX.partial: the lock, which also proves that a program of ours made the folder; the new folder; the old
// one between two renames, where names cannot be exchanged; the replaced one until it is deleted.
constexpr const char* kLock = "nmt.lock";
constexpr const char* kNew = "new";
constexpr const char* kOld = "old";
constexpr const char* kReplaced = "replaced";

std::error_code last_error() { return {errno, std::generic_category()}; }
bool move(const fs::path& from, const fs::path& to) { return ::rename(from.c_str(), to.c_str()) == 0; }

bool exchange(const fs::path& one, const fs::path& other) {
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

/// Whether anything has this name, be it a link to nothing.
bool stands(const fs::path& path) {
  std::error_code none;
  return fs::exists(fs::symlink_status(path, none));
}

[[noreturn]] void throw_cannot_make(const fs::path& path, const std::error_code& reason) {
  throw_path_error(fmt::format("{}: cannot make the folder ({})", path.string(), reason.message()), reason);
}

[[noreturn]] void throw_cannot_move(const fs::path& place, int reason) {
  throw MachineError(fmt::format("{}: cannot be put in place ({})", place.string(), system_message(reason)));
}

/// The place at the end of symbolic links, also where nothing stands there, without a slash at the end.
fs::path resolved(const fs::path& path) {
  const auto canonical = [](const fs::path& name) {
    std::error_code none;
    const auto found = fs::weakly_canonical(name, none);
    return none ? name : found;
  };
  std::error_code none;
  auto place = canonical(fs::absolute(path));
  if (!place.has_filename()) place = place.parent_path();
  for (int links = 0; links < 40 && fs::is_symlink(place, none); ++links)
    place = canonical(place.parent_path() / fs::read_symlink(place, none));
  return place;
}

bool is_mount_point(const fs::path& path) {
  struct statx about;
  constexpr int kItself = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  return ::statx(AT_FDCWD, path.c_str(), kItself, STATX_TYPE, &about) == 0 &&
         (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/// Throws Error for a place that commit(), after all the work, could not put a folder in.
void check_place(const fs::path& path, const fs::path& place) {
  std::error_code none;
  const auto link = path.has_filename() ? path : path.parent_path();
  if (fs::is_symlink(link, none) && !fs::exists(link, none))
    throw Error(fmt::format("{}: is a symbolic link to nothing ({}); make that folder, or name another", link.string(),
                            fs::read_symlink(link, none).string()));
  if (!stands(place)) return;
  if (!fs::is_directory(place, none)) throw Error(fmt::format("{}: is a file; name a folder", place.string()));
  if (is_mount_point(place))
    throw Error(
        fmt::format("{}: is a mount point, which nothing can take the place of; name a folder in it", place.string()));
  if (::faccessat(AT_FDCWD, place.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) != 0)
    throw Error(fmt::format("{}: cannot be replaced ({}); give this user the right to write to it, or name another",
                            place.string(), system_message(errno)));
}

[[noreturn]] void throw_in_use(const fs::path& place) {
  throw Error(fmt::format("{}: another program is writing there; wait for its end", place.string()));
}

/// A folder beside `place` with its lock and an empty new folder.
std::pair<fs::path, FileLock> make_staging(const fs::path& place) {
  std::error_code reason;
  fs::create_directories(place.parent_path(), reason);
  if (reason) throw_cannot_make(place.parent_path(), reason);
  auto staging = make_partial_folder(place);
  if (staging.empty()) throw_cannot_make(place, last_error());
  FileDescriptor file(::open((staging / kLock).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.number() >= 0) {
    FileLock lock(std::move(file));
    if (lock.is_busy()) throw_in_use(place);  // by one that starts at the same time, and takes this for a leftover
    if (::mkdir((staging / kNew).c_str(), 0777) == 0) return {std::move(staging), std::move(lock)};
  }
  reason = last_error();
  std::error_code ignored;
  fs::remove_all(staging, ignored);
  throw_cannot_make(place, reason);
}

/// A replaced folder that could not be deleted stays there for the next start: on NFS a file that a program has open
/// keeps a name in it. NFS keeps the name of the lock, too: it is released first.
void remove_staging(const fs::path& staging, std::optional<FileLock>& lock) {
  lock.reset();
  if (stands(staging / kOld) || stands(staging / kReplaced)) return;
  std::error_code ignored;
  fs::remove_all(staging, ignored);
}

/// Removes files of these names, and folders that are empty then.
void remove_files(const fs::path& folder, const std::vector<std::string>& names) {
  for (const fs::path name : names) {
    if (name.is_absolute() || std::ranges::find(name, "..") != name.end()) continue;  // of a damaged list
    ::unlink((folder / name).c_str());
    auto inner = name.parent_path();
    while (!inner.empty() && ::rmdir((folder / inner).c_str()) == 0) inner = inner.parent_path();
  }
  ::rmdir(folder.c_str());
}

fs::path set_aside(const fs::path& folder, const fs::path& place) {
  auto kept = next_free_name(place.string() + ".kept");
  if (!move(folder, kept)) throw_cannot_move(kept, errno);
  return kept;
}

/// Deletes a folder that was in `place`, or keeps it. Whatever comes meanwhile, only files of these names are deleted.
fs::path discard(const fs::path& folder, const fs::path& place, const OwnFiles& own) {
  if (!stands(folder)) return {};
  if (!fs::is_directory(fs::symlink_status(folder))) return set_aside(folder, place);
  const auto names = own(folder);
  if (foreign_entry(folder, names)) return set_aside(folder, place);
  remove_files(folder, names);
  return {};
}

/// Finishes or undoes what a killed program left; without a lock it only brings the old folder back. Returns the
/// folders that are kept.
std::vector<fs::path> recover(const fs::path& staging, const fs::path& place, const OwnFiles& own,
                              std::optional<FileLock> lock) {
  const auto old = staging / kOld;
  if (stands(old) && !stands(place)) {
    if (!move(old, place)) throw_cannot_move(place, errno);
    sync_directory(place.parent_path());
  }
  if (!lock) return {};
  std::vector<fs::path> kept;
  // With the new folder still there, what stands in the place is another's: the old one is the only one of its kind.
  if (stands(old)) kept.push_back(stands(staging / kNew) ? set_aside(old, place) : discard(old, place, own));
  kept.push_back(discard(staging / kReplaced, place, own));
  std::erase(kept, fs::path());
  remove_staging(staging, lock);
  return kept;
}

/// The same for all that make_staging() of this user made in `folder`: of the place `only`, where other programs may be
/// at work, or, if it is null, of all places.
std::vector<fs::path> recover_all(const fs::path& folder, const OwnFiles& own, const fs::path* only) {
  std::error_code none;
  std::vector<fs::path> kept;
  const std::vector<fs::directory_entry> entries(fs::directory_iterator(folder, none), fs::directory_iterator());
  for (const fs::path& staging : entries) {
    struct stat about;
    const auto place = place_of_partial(staging);
    if (!place || (only && *place != *only)) continue;
    const bool is_private = ::lstat(staging.c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
                            about.st_uid == ::geteuid() && (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    if (!is_private) continue;
    FileDescriptor file(::open((staging / kLock).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (file.number() < 0) {
      if (!only) ::rmdir(staging.c_str());  // killed before there was a lock
      continue;
    }
    std::optional<FileLock> lock(std::move(file));
    if (lock->is_busy() && only) throw_in_use(*place);
    if (lock->is_busy()) continue;
    if (!lock->problem().empty() && only) lock.reset();  // without locks it may belong to a program at work
    for (auto& path : recover(staging, *place, own, std::move(lock))) kept.push_back(std::move(path));
  }
  return kept;
}

}  // namespace

OutputFolder::OutputFolder(const fs::path& place, OwnFiles own) : place_(resolved(place)), own_(std::move(own)) {
  recover_all(place_.parent_path(), own_, &place_);
  check_place(place, place_);
  std::tie(staging_, lock_) = make_staging(place_);
  lock_problem_ = lock_->problem();
  made_ = staging_ / kNew;
}

OutputFolder::~OutputFolder() { remove_staging(staging_, lock_); }

void OutputFolder::put_in_place() {
  struct stat standing;
  if (::lstat(place_.c_str(), &standing) != 0) {
    if (!move(made_, place_)) throw_cannot_move(place_, errno);
    return;
  }
  if (S_ISDIR(standing.st_mode)) ::chmod(made_.c_str(), (standing.st_mode & 07777) | S_IRWXU);
  const auto old = staging_ / kOld, replaced = staging_ / kReplaced;
  // Under the name of what it is after the exchange: a kill leaves nothing that could be either.
  if (!move(made_, replaced)) throw_cannot_move(place_, errno);
  if (exchange(replaced, place_)) return;
  int reason = errno;
  move(replaced, made_);
  if (reason != EINVAL && reason != ENOSYS && reason != EOPNOTSUPP) throw_cannot_move(place_, reason);
  // A file system that cannot exchange names, such as NFS: for a moment there is none. recover() brings it back.
  if (!move(place_, old)) throw_cannot_move(place_, errno);
  if (!move(made_, place_)) {
    reason = errno;
    if (!move(old, place_)) set_aside(old, place_);  // somebody made a folder there
    throw_cannot_move(place_, reason);
  }
  move(old, replaced);
}

fs::path OutputFolder::commit() {
  sync_directory(made_);
  put_in_place();
  sync_directory(place_.parent_path());
  auto kept = discard(staging_ / kReplaced, place_, own_);
  remove_staging(staging_, lock_);
  return kept;
}

std::vector<fs::path> recover_output_folders(const fs::path& folder, const OwnFiles& own) {
  return recover_all(folder, own, nullptr);
}

fs::path remove_folder(const fs::path& path, const OwnFiles& own) {
  auto [staging, held] = make_staging(path);
  std::optional<FileLock> lock(std::move(held));
  const int reason = move(path, staging / kReplaced) ? 0 : errno;
  auto kept = discard(staging / kReplaced, path, own);
  remove_staging(staging, lock);
  if (reason != 0) throw MachineError(fmt::format("{}: cannot be removed ({})", path.string(), system_message(reason)));
  return kept;
}

void warn_of_kept(const fs::path& kept, Logger& log) {
  if (!kept.empty())
    log.warn("{}: the folder that was replaced; it is kept, because something else was put there", kept.string());
}

std::optional<std::string> foreign_entry(const fs::path& folder, const std::vector<std::string>& names) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    auto name = entry.path().lexically_relative(folder).string();
    const auto status = entry.symlink_status();
    const bool is_known = std::ranges::any_of(names, [&](const std::string& known) {
      return fs::is_directory(status) ? known.starts_with(name + "/") : known == name && fs::is_regular_file(status);
    });
    if (!is_known || is_mount_point(entry.path())) return name;
  }
  return std::nullopt;
}

fs::path next_free_name(const fs::path& stem) {
  for (int n = 1;; ++n)
    if (fs::path name = fmt::format("{}-{}", stem.string(), n); !stands(name)) return name;
}

}  // namespace nmt
