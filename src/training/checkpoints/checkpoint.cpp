#include "training/checkpoints/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/file_descriptor.h"
#include "base/files/strict_json.h"
#include "base/folders/output_folder.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

constexpr const char* kChecksums = "checksums.json";
constexpr const char* kDamaged = ".damaged";
constexpr JsonLimits kSumsLimits{.bytes = 1 << 20, .depth = 1};

std::string name_of(int64_t update) { return fmt::format("{:08d}", update); }

// Adds the sums of the files whose sums do not stand there yet.
void add_checksums(const fs::path& directory) {
  nlohmann::json sums = nlohmann::json::object();
  if (fs::exists(directory / kChecksums)) sums = read_json_file(directory / kChecksums);
  for (const auto& entry : fs::directory_iterator(directory)) {
    const auto name = entry.path().filename().string();
    if (name != kChecksums && !sums.contains(name)) sums[name] = sha256_of_file(entry.path());
  }
  write_file_atomically(directory / kChecksums, sums.dump(1) + "\n");
}

void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code no_links_there;
  fs::create_hard_link(from, to, no_links_there);
  if (no_links_there) write_file_atomically(to, read_file(from));
}

/// Files that stay as they are, and their sums with them: damage that came meanwhile is found out later.
void link_files(const fs::path& from, const fs::path& to, nlohmann::json sums) {
  for (const auto& [name, sum] : sums.items()) link_or_copy(from / name, to / name);
  write_file_atomically(to / kChecksums, sums.dump());
}

void require_access(const fs::path& path, int kind) {
  if (::faccessat(AT_FDCWD, path.c_str(), kind, AT_EACCESS) == 0 || errno != EACCES) return;
  throw Error(
      fmt::format("{}: cannot read ({}); give this user the right to read it", path.string(), system_message(EACCES)));
}

}  // namespace

fs::path write_directory(const fs::path& directory, const DirectoryWriter& write) {
  try {
    OutputFolder folder(directory, files_of_directory);
    write(folder.path());
    add_checksums(folder.path());
    return folder.commit();
  } catch (const fs::filesystem_error& error) {
    throw MachineError(fmt::format("{}: cannot write ({})", directory.string(), error.code().message()));
  }
}

std::vector<std::string> files_of_directory(const fs::path& directory) {
  std::vector<std::string> names;
  try {
    const auto sums = read_json_file(directory / kChecksums, kSumsLimits);
    for (const auto& [name, sum] : sums.items()) names.push_back(name);
  } catch (const std::runtime_error&) {  // missing or damaged: nothing tells what is ours
  }
  names.emplace_back(kChecksums);
  return names;
}

std::optional<std::string> damage_of(const fs::path& directory) {
  require_access(directory, R_OK | X_OK);
  require_access(directory / kChecksums, R_OK);
  nlohmann::json sums;
  try {
    sums = read_json_file(directory / kChecksums, kSumsLimits);
  } catch (const Error& error) {
    return std::string(error.what());
  }
  if (!sums.is_object() || sums.empty()) return std::string(kChecksums) + ": not readable";
  for (const auto& [name, sum] : sums.items()) {
    if (!sum.is_string()) return std::string(kChecksums) + ": not readable";
    if (!fs::is_regular_file(directory / name)) return name + ": missing";
    require_access(directory / name, R_OK);
    if (sha256_of_file(directory / name) != sum.get<std::string>()) return name + ": checksum differs";
  }
  return std::nullopt;
}

CheckpointStore::CheckpointStore(fs::path directory, Logger& log) : directory_(std::move(directory)), log_(log) {
  fs::create_directories(directory_);
  for (const auto& kept : recover_output_folders(directory_, files_of_directory)) warn_of_kept(kept, log_);
}

void CheckpointStore::save(int64_t update, int64_t keep, const DirectoryWriter& write,
                           const std::set<int64_t>& also) const {
  require_place();
  warn_of_kept(write_directory(path(update), write), log_);
  remove_others(update, keep, also);
}

void CheckpointStore::replace_file(int64_t update, const std::string& name, std::string_view text, int64_t keep,
                                   const std::set<int64_t>& also) const {
  require_place();
  const auto standing = path(update);
  const auto kept = write_directory(standing, [&](const fs::path& folder) {
    auto sums = read_json_file(standing / kChecksums);
    sums.erase(name);
    link_files(standing, folder, std::move(sums));
    write_file_atomically(folder / name, text);
  });
  warn_of_kept(kept, log_);
  remove_others(update, keep, also);
}

void CheckpointStore::remove(int64_t update) const {
  if (!fs::exists(path(update))) return;
  try {
    warn_of_kept(remove_folder(path(update), files_of_directory), log_);
  } catch (const std::runtime_error& error) {  // another owner's, or a mount point: no reason to end a training
    if (left_.insert(update).second) log_.warn("{}; it stays", error.what());
  }
}

void CheckpointStore::require_place() const {
  if (!fs::is_directory(directory_))
    throw MachineError(fmt::format("{}: the folder was moved or removed while the run was at work; bring it back",
                                   directory_.string()));
}

void CheckpointStore::remove_others(int64_t update, int64_t keep, const std::set<int64_t>& also) const {
  const auto all = updates();
  const auto surplus = static_cast<int64_t>(all.size()) - std::max<int64_t>(keep, 1);
  for (int64_t i = 0; i < surplus; ++i)
    if (all[i] != update && !also.contains(all[i])) remove(all[i]);
}

std::vector<int64_t> checkpoints_in(const fs::path& directory) {
  std::vector<int64_t> found;
  if (!fs::exists(directory)) return found;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const auto name = entry.path().filename().string();
    const bool digits = !name.empty() && name.size() <= 12 && name.find_first_not_of("0123456789") == name.npos;
    if (!digits || !entry.is_directory()) continue;
    const int64_t update = std::stoll(name);
    if (name_of(update) == name) found.push_back(update);  // not another program's "5"
  }
  std::sort(found.begin(), found.end());
  return found;
}

fs::path CheckpointStore::path(int64_t update) const { return directory_ / name_of(update); }

void CheckpointStore::set_aside(int64_t update, const std::string& damage) const {
  const auto name = path(update).string() + kDamaged;
  fs::path free = name;
  for (int n = 2; fs::exists(fs::symlink_status(free)); ++n) free = fmt::format("{}-{}", name, n);
  std::error_code error;
  fs::rename(path(update), free, error);
  if (error)
    throw MachineError(
        fmt::format("{}: damaged ({}), and cannot be set aside ({})", path(update).string(), damage, error.message()));
  log_.warn("{}: damaged ({}): it is now {}; going back to the checkpoint before", path(update).string(), damage,
            free.filename().string());
}

std::optional<int64_t> CheckpointStore::newest_whole(const DamageOf& damage_in) const {
  const auto all = updates();
  std::vector<std::pair<int64_t, std::string>> damaged;
  for (auto update = all.rbegin(); update != all.rend(); ++update) {
    if (const auto damage = damage_in(path(*update))) {
      damaged.emplace_back(*update, *damage);
      continue;
    }
    for (const auto& [which, what] : damaged) set_aside(which, what);
    return *update;
  }
  if (damaged.empty()) {
    for (const auto& entry : fs::directory_iterator(directory_))
      if (entry.path().extension().string().starts_with(kDamaged))
        throw Error(fmt::format(
            "{}: only damaged checkpoints are left; bring a whole one back, or --restart renames the whole run to "
            "NAME.old-N and starts a new one",
            directory_.string()));
    return std::nullopt;
  }
  throw Error(fmt::format(
      "{}: every checkpoint is damaged, the newest one: {}; bring one back, or --restart renames the whole run to "
      "NAME.old-N and starts a new one",
      path(damaged.front().first).string(), damaged.front().second));
}

}  // namespace nmt
