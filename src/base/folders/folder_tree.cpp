#include "base/folders/folder_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <vector>

namespace fs = std::filesystem;

namespace nmt {
namespace {

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code none;  // what cannot be listed cannot be removed either
  for (auto entry = fs::directory_iterator(folder, none); !none && entry != fs::directory_iterator();
       entry.increment(none))
    entries.push_back(entry->path());
  return entries;
}

bool is_folder(const fs::path& path) {
  std::error_code none;
  return fs::is_directory(fs::symlink_status(path, none));
}

/// Lets its owner in, and returns the mode that it had; nullopt: it is another's.
std::optional<mode_t> open_up(const fs::path& folder) {
  struct stat about;
  if (::lstat(folder.c_str(), &about) != 0) return std::nullopt;
  const mode_t mode = about.st_mode & 07777;
  if ((mode & S_IRWXU) != S_IRWXU && ::chmod(folder.c_str(), mode | S_IRWXU) != 0) return std::nullopt;
  return mode;
}

/// False where something is mounted in it.
bool open_up_all(const fs::path& folder) {
  if (is_mount_point(folder)) return false;
  open_up(folder);
  return std::ranges::all_of(entries_of(folder),
                             [](const fs::path& entry) { return !is_folder(entry) || open_up_all(entry); });
}

/// Never over what stands there.
bool move_new(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return false;
  struct stat about;
  if (::lstat(to.c_str(), &about) == 0) return false;
  return ::rename(from.c_str(), to.c_str()) == 0;
}

/// A folder can go into another one only where its owner may write to it.
bool move_entry(const fs::path& from, const fs::path& to) {
  if (move_new(from, to)) return true;
  if (!is_folder(from)) return false;
  const auto mode = open_up(from);
  const bool moved = mode && move_new(from, to);
  if (mode) ::chmod((moved ? to : from).c_str(), *mode);
  return moved;
}

}  // namespace

bool is_mount_point(const fs::path& path) {
  struct statx about;
  constexpr int kItself = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  if (::statx(AT_FDCWD, path.c_str(), kItself, STATX_TYPE, &about) == 0 &&
      (about.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0)
    return (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  struct stat itself, around;  // kernels before 5.8
  return ::lstat(path.c_str(), &itself) == 0 && ::lstat(path.parent_path().c_str(), &around) == 0 &&
         itself.st_dev != around.st_dev;
}

bool has_all_of(const fs::path& place, const std::set<std::string>& names, const fs::path& folder) {
  return std::ranges::all_of(names, [&](const std::string& name) {
    std::error_code none;
    return fs::exists(fs::symlink_status(place / name, none)) || !fs::exists(fs::symlink_status(folder / name, none));
  });
}

std::optional<std::string> foreign_entry(const fs::path& folder, const std::set<std::string>& names) {
  const auto has_some = [&](const std::string& inner_folder) {
    const auto first = names.lower_bound(inner_folder + "/");
    return first != names.end() && first->starts_with(inner_folder + "/");
  };
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    auto name = entry.path().lexically_relative(folder).string();
    const auto status = entry.symlink_status();
    const bool known = fs::is_directory(status) ? has_some(name) : names.contains(name) && fs::is_regular_file(status);
    if (!known) return name;
  }
  return std::nullopt;
}

void remove_tree(const fs::path& folder) {
  std::error_code ignored;
  if (open_up_all(folder)) fs::remove_all(folder, ignored);
}

bool has_mount_point(const fs::path& folder) {
  return std::ranges::any_of(entries_of(folder), [](const fs::path& entry) {
    return is_folder(entry) && (is_mount_point(entry) || has_mount_point(entry));
  });
}

fs::path set_aside(const fs::path& folder, const fs::path& heir) {
  for (int n = 1;; ++n) {
    const fs::path kept = fmt::format("{}.kept-{}", heir.string(), n);
    if (move_new(folder, kept)) return kept;
    struct stat about;
    if (::lstat(kept.c_str(), &about) != 0) return folder;  // nothing stands there: it cannot be moved at all
  }
}

fs::path hand_over(const fs::path& folder, const fs::path& heir, const std::set<std::string>& own) {
  open_up(folder);
  const auto mode_of_heir = open_up(heir);
  bool is_empty = false;
  for (bool moves = true; moves && !is_empty;) {  // more may come meanwhile
    moves = false;
    for (const auto& entry : entries_of(folder)) {
      const bool is_own = own.contains(entry.filename().string()) && !is_folder(entry);
      if (is_own ? ::unlink(entry.c_str()) == 0 : move_entry(entry, heir / entry.filename())) moves = true;
    }
    is_empty = ::rmdir(folder.c_str()) == 0;
  }
  if (mode_of_heir) ::chmod(heir.c_str(), *mode_of_heir);
  return is_empty ? fs::path() : set_aside(folder, heir);
}

}  // namespace nmt
