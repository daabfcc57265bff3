#include "base/folders/output_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/partial_name.h"
#include "base/folders/folder_tree.h"
#include "base/library_errors.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

// In NAME.XXXXXX.partial: the lock, which is also the proof that this program made the folder; the new folder; and,
// where names cannot be exchanged, the old one for the moment between two renames. Where the old one may hold things of
// others: the names that are not theirs, one to a line.
constexpr const char* kLock = "nmt.lock";
constexpr const char* kNew = "new";
constexpr const char* kOld = "old";
constexpr const char* kOwn = "own";

/// Without a slash at the end, and the folder itself where it is a symbolic link.
fs::path resolved(const fs::path& path) {
  std::error_code none;
  const auto canonical = fs::canonical(path, none);
  if (!none) return canonical;
  const auto normal = fs::absolute(path).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

std::error_code last_error() { return {errno, std::generic_category()}; }

[[noreturn]] void throw_cannot_make(const fs::path& path, const std::error_code& reason) {
  throw_path_error(fmt::format("{}: cannot make the folder ({})", path.string(), reason.message()), reason);
}

[[noreturn]] void throw_cannot_move(const fs::path& place) {
  throw MachineError(fmt::format("{}: cannot be put in place ({})", place.string(), system_message(errno)));
}

/// Of a folder that is to be made and those above it.
void refuse_links_to_nothing(const fs::path& path) {
  std::error_code reason;
  auto link = path.has_filename() ? path : path.parent_path();
  for (; !link.empty() && !fs::exists(link, reason); link = link.parent_path()) {
    const auto why_missing = reason;
    if (!fs::is_symlink(link, reason)) continue;
    if (why_missing) throw_cannot_make(link, why_missing);
    throw Error(fmt::format("{}: is a symbolic link to nothing ({}); make that folder, or name another", link.string(),
                            fs::read_symlink(link, reason).string()));
  }
}

/// Throws Error for a place that the last call, after all the work, could not put a folder in.
void check_place(const fs::path& path, const fs::path& place) {
  std::error_code reason;
  refuse_links_to_nothing(path);
  if (fs::exists(place, reason) && !fs::is_directory(place, reason))
    throw Error(fmt::format("{}: is a file; name a folder", place.string()));
  if (is_mount_point(place))
    throw Error(
        fmt::format("{}: is a mount point, which nothing can take the place of; name a folder in it", place.string()));
}

/// The folders above `place` that are missing, the lowest first.
std::vector<fs::path> missing_parents(const fs::path& place) {
  std::vector<fs::path> missing;
  std::error_code none;
  for (auto parent = place.parent_path(); !parent.empty() && !fs::exists(parent, none); parent = parent.parent_path())
    missing.push_back(parent);
  return missing;
}

/// A folder of ours beside `place`, with its lock. The lock is taken before the file has its name: who finds it knows
/// that it is in use.
std::pair<fs::path, std::optional<FileLock>> make_staging(const fs::path& place) {
  std::error_code reason;
  fs::create_directories(place.parent_path(), reason);
  if (reason) throw_cannot_make(place.parent_path(), reason);
  auto staging = make_partial_folder(place);
  if (staging.empty()) throw_cannot_make(place, last_error());
  auto file = make_partial_file(staging / kLock, S_IRUSR | S_IWUSR);
  const bool made = file.descriptor.number() >= 0;
  std::optional<FileLock> lock;
  if (made) lock.emplace(std::move(file.descriptor));
  if (!made || ::rename(file.path.c_str(), (staging / kLock).c_str()) != 0) {
    reason = last_error();
    std::error_code ignored;
    fs::remove_all(staging, ignored);
    throw_cannot_make(place, reason);
  }
  return {std::move(staging), std::move(lock)};
}

/// Whether it is a folder of this user's that nobody else can write to, as make_staging() makes it.
bool is_private_folder(const fs::path& path) {
  struct stat folder;
  return ::lstat(path.c_str(), &folder) == 0 && S_ISDIR(folder.st_mode) && folder.st_uid == ::geteuid() &&
         (folder.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/// The lock file of a folder that make_staging() of this user made; -1 where it is another's.
FileDescriptor lock_file_of(const fs::path& staging) {
  struct stat file;
  if (!is_private_folder(staging)) return FileDescriptor(-1);
  FileDescriptor lock(::open((staging / kLock).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (lock.number() >= 0 && ::fstat(lock.number(), &file) == 0 && S_ISREG(file.st_mode) && file.st_size == 0)
    return lock;
  return FileDescriptor(-1);
}

/// NFS keeps the name of an open file: the lock is given up first.
void remove_staging(const fs::path& staging, std::optional<FileLock>& lock) {
  lock.reset();
  remove_tree(staging);
}

/// Where what is left in a folder of ours is another's: without its lock it is nobody's leftover.
void leave_staging(const fs::path& staging, std::optional<FileLock>& lock) {
  lock.reset();
  ::unlink((staging / kLock).c_str());
}

enum class Commit { kWhole, kCutOff };

/// The end of a commit among others: what is left of the old folder goes, or, where it was cut off, the new one, which
/// has nothing of others. Returns what hand_over() does.
std::vector<fs::path> finish_handing_over(const fs::path& staging, const fs::path& place, std::optional<FileLock>& lock,
                                          const std::set<std::string>& own, Commit commit) {
  std::error_code none;
  std::vector<fs::path> kept;
  for (const char* name : {kOld, kNew}) {
    const auto folder = staging / name;
    if (!fs::is_directory(folder, none)) continue;
    // Somebody may have moved what stood in the place of one that was cut off, or made another folder there.
    const bool may_go = commit == Commit::kWhole || has_all_of(place, own, folder);
    if (auto left = may_go ? hand_over(folder, place, own) : set_aside(folder, place); !left.empty())
      kept.push_back(std::move(left));
  }
  if (std::ranges::any_of(kept, [&](const fs::path& path) { return path.parent_path() == staging; }))
    leave_staging(staging, lock);
  else
    remove_staging(staging, lock);
  return kept;
}

/// nullopt: nothing of others was to be handed over.
std::optional<std::set<std::string>> own_names(const fs::path& staging) {
  std::error_code none;
  if (!fs::is_regular_file(staging / kOwn, none)) return std::nullopt;
  std::set<std::string> own;
  std::istringstream names(read_file(staging / kOwn));
  for (std::string name; std::getline(names, name);) own.insert(name);
  return own;
}

enum class Found { kLeftover, kInUse };

/// Finishes or undoes what a killed program left in a folder of ours. kept: what finish_handing_over() returns is
/// added.
Found recover(const fs::path& staging, const fs::path& place, FileDescriptor lock_file, OtherWriters others,
              std::vector<fs::path>& kept) {
  std::optional<FileLock> lock(std::in_place, std::move(lock_file));
  if (lock->is_busy()) return Found::kInUse;
  // Without locks it may belong to a program at work.
  const bool is_left = lock->problem().empty() || others == OtherWriters::kNone;
  std::error_code none;
  if (!fs::exists(fs::symlink_status(place, none)) && fs::exists(staging / kOld, none)) {
    if (::rename((staging / kOld).c_str(), place.c_str()) != 0) throw_cannot_move(place);
    sync_directory(place.parent_path());
  }
  if (!is_left) return Found::kLeftover;
  if (const auto own = own_names(staging))
    for (auto& path : finish_handing_over(staging, place, lock, *own, Commit::kCutOff)) kept.push_back(std::move(path));
  else
    remove_staging(staging, lock);
  return Found::kLeftover;
}

/// Calls action(staging, place, lock file) for each folder of ours in `parent`.
template <typename Action>
void for_each_staging(const fs::path& parent, Action action) {
  std::error_code none;
  std::vector<fs::path> names;  // the action removes entries
  for (const auto& entry : fs::directory_iterator(parent, none)) names.push_back(entry.path());
  for (const auto& name : names) {
    const auto place = place_of_partial(name);
    if (!place) continue;
    if (auto lock = lock_file_of(name); lock.number() >= 0) action(name, *place, std::move(lock));
  }
}

bool move(const fs::path& from, const fs::path& to) { return ::rename(from.c_str(), to.c_str()) == 0; }

bool exchange(const fs::path& one, const fs::path& other) {
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

/// What make_staging() leaves that is killed before its lock has its name: a folder with at most that file in it.
bool is_barely_begun(const fs::path& staging) {
  if (!is_private_folder(staging)) return false;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(staging, none))
    if (place_of_partial(entry.path()) != staging / kLock) return false;
  return !none;
}

void remove_barely_begun(const fs::path& parent) {
  std::error_code none;
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(parent, none))
    if (place_of_partial(entry.path()) && is_barely_begun(entry.path())) left.push_back(entry.path());
  for (const auto& staging : left) fs::remove_all(staging, none);
}

}  // namespace

OutputFolder::NewParents::~NewParents() {
  std::error_code not_empty;
  for (const auto& path : paths) fs::remove(path, not_empty);
}

OutputFolder::OutputFolder(const fs::path& final_path, FindLoss find_loss)
    : final_(resolved(final_path)), find_loss_(std::move(find_loss)) {
  check_place(final_path, final_);
  std::vector<fs::path> kept;
  for_each_staging(final_.parent_path(), [&](const fs::path& staging, const fs::path& place, FileDescriptor lock) {
    if (place != final_) return;
    if (recover(staging, place, std::move(lock), OtherWriters::kPossible, kept) == Found::kInUse)
      throw Error(fmt::format("{}: another program is writing there; wait for its end", final_.string()));
  });
  new_parents_.paths = missing_parents(final_);
  std::tie(staging_, lock_) = make_staging(final_);
  lock_problem_ = lock_->problem();
  made_ = staging_ / kNew;
  std::error_code reason;
  if (!fs::create_directory(made_, reason)) {
    remove_staging(staging_, lock_);
    throw_cannot_make(final_, reason);
  }
}

OutputFolder::~OutputFolder() {
  if (!committed_) remove_staging(staging_, lock_);
}

/// Of what stands in the place, and lies at `standing` now.
void OutputFolder::refuse_loss(const fs::path& standing) const {
  const auto status = fs::symlink_status(standing);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    throw Error(
        fmt::format("{}: a file came there during the work and would be lost, so nothing was written; move it "
                    "and start again",
                    final_.string()));
  if (const auto name = find_loss_ ? find_loss_(standing) : std::nullopt)
    throw Error(
        fmt::format("{}: {} came there during the work and would be lost, so nothing was written; move it and "
                    "start again, or name another folder",
                    final_.string(), *name));
}

/// `old` is what stood in the place a moment ago: something may have come since commit() looked.
void OutputFolder::refuse_loss_or_put_back(const fs::path& old, const std::function<bool()>& put_back) {
  try {
    refuse_loss(old);
  } catch (...) {
    if (!put_back()) leave(old);
    throw;
  }
}

/// Where what stood in the place cannot go back. Without its lock the folder is nobody's leftover.
void OutputFolder::leave(const fs::path& old) {
  const std::string reason = system_message(errno);
  leave_staging(staging_, lock_);
  staging_.clear();
  throw MachineError(
      fmt::format("{}: what stood there cannot be put back ({}); it is {} now", final_.string(), reason, old.string()));
}

/// Puts made_ in the place; what stood there is at made_ afterwards.
void OutputFolder::put_in_place() {
  struct stat old;
  if (::lstat(final_.c_str(), &old) != 0) {
    if (!move(made_, final_)) throw_cannot_move(final_);  // it takes the place of an empty folder at most
    return;
  }
  const mode_t mode = old.st_mode & 07777;
  const bool is_closed = S_ISDIR(old.st_mode) && (mode & S_IRWXU) != S_IRWXU;
  if (S_ISDIR(old.st_mode)) ::chmod(made_.c_str(), mode | S_IRWXU);
  if (is_closed) ::chmod(final_.c_str(), mode | S_IRWXU);  // only who may write to a folder can move it elsewhere
  const auto close_again = [&] {
    const int reason = errno;
    if (is_closed) ::chmod(final_.c_str(), mode);
    errno = reason;
  };
  if (exchange(made_, final_)) {
    refuse_loss_or_put_back(made_, [&] { return exchange(made_, final_); });
    close_again();
    return;
  }
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) {
    close_again();
    throw_cannot_move(final_);
  }
  // A file system that cannot exchange names, such as NFS: for a moment there is none. Who is killed in it leaves the
  // old one to recover().
  const auto aside = staging_ / kOld;
  if (!move(final_, aside)) throw_cannot_move(final_);
  refuse_loss_or_put_back(aside, [&] { return move(aside, final_); });
  if (!move(made_, final_)) {
    const int reason = errno;
    if (!move(aside, final_)) leave(aside);
    errno = reason;
    throw_cannot_move(final_);
  }
  close_again();
  move(aside, made_);  // so that recover() never takes it back, half removed
}

fs::path OutputFolder::commit_among_others(const std::set<std::string>& own) {
  sync_directory(made_);
  if (fs::exists(final_)) {
    std::string names;
    for (const auto& name : own) names += name + "\n";
    write_file_atomically(staging_ / kOwn, names);
  }
  finish();
  const auto kept = finish_handing_over(staging_, final_, lock_, own, Commit::kWhole);
  sync_directory(final_);
  return kept.empty() ? fs::path() : kept.front();
}

void OutputFolder::commit() {
  finish();
  remove_staging(staging_, lock_);  // with the old files
}

void OutputFolder::finish() {
  sync_directory(made_);
  refuse_loss(final_);  // before the new folder shows
  put_in_place();
  committed_ = true;
  new_parents_.paths.clear();
  sync_directory(final_.parent_path());
}

std::vector<fs::path> recover_output_folders(const fs::path& folder, OtherWriters others) {
  if (others == OtherWriters::kNone) remove_barely_begun(folder);
  std::vector<fs::path> kept;
  for_each_staging(folder, [&](const fs::path& staging, const fs::path& place, FileDescriptor lock) {
    recover(staging, place, std::move(lock), others, kept);
  });
  return kept;
}

std::vector<fs::path> recover_output_folder(const fs::path& place, OtherWriters others) {
  auto target = fs::absolute(place).lexically_normal();
  std::error_code none;
  for (int links = 0; links < 40 && fs::is_symlink(target, none); ++links)
    target = (target.parent_path() / fs::read_symlink(target, none)).lexically_normal();
  std::vector<fs::path> kept;
  for_each_staging(target.parent_path(), [&](const fs::path& staging, const fs::path& of, FileDescriptor lock) {
    if (of == target) recover(staging, of, std::move(lock), others, kept);
  });
  return kept;
}

void remove_folder(const fs::path& path) {
  if (has_mount_point(path))
    throw MachineError(fmt::format("{}: cannot be removed (something is mounted in it)", path.string()));
  auto [staging, lock] = make_staging(path);
  const int reason = ::rename(path.c_str(), (staging / kNew).c_str()) == 0 ? 0 : errno;
  remove_staging(staging, lock);
  if (reason != 0) throw MachineError(fmt::format("{}: cannot be removed ({})", path.string(), system_message(reason)));
}

}  // namespace nmt
