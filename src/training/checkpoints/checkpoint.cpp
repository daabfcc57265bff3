#include "training/checkpoints/checkpoint.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/json_file.h"
#include "base/files/output_folder.h"
#include "base/strict_json.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

constexpr const char* kChecksums = "checksums.json";
constexpr const char* kDamaged = ".damaged";

// Of the files whose sums do not stand there yet.
void add_checksums(const fs::path& directory) {
  nlohmann::json sums = nlohmann::json::object();
  if (fs::exists(directory / kChecksums)) sums = read_json_file(directory / kChecksums);
  for (const auto& entry : fs::directory_iterator(directory)) {
    const auto name = entry.path().filename().string();
    if (name != kChecksums && !sums.contains(name)) sums[name] = sha256_of_file(entry.path());
  }
  write_file_atomically(directory / kChecksums, sums.dump(1) + "\n");
}

// What a user has put into a folder that is to be replaced, an export or translations, goes on in the new one.
void carry_over(const fs::path& old, const fs::path& made) {
  if (!fs::is_directory(old)) return;
  nlohmann::json own = nlohmann::json::object();
  if (fs::exists(old / kChecksums)) own = parse_json_or_null(read_file(old / kChecksums));
  for (const auto& entry : fs::directory_iterator(old)) {
    const auto name = entry.path().filename();
    if (name == kChecksums || (own.is_object() && own.contains(name.string()))) continue;
    if (fs::exists(fs::symlink_status(made / name))) continue;
    constexpr auto kWhole = fs::copy_options::recursive | fs::copy_options::copy_symlinks;
    std::error_code no_links_there;
    fs::copy(entry.path(), made / name, kWhole | fs::copy_options::create_hard_links, no_links_there);
    if (no_links_there) fs::copy(entry.path(), made / name, kWhole | fs::copy_options::overwrite_existing);
  }
}

/// {0, 0}: nothing is there.
std::pair<dev_t, ino_t> identity_of(const fs::path& path) {
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino};
}

void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code no_links_there;
  fs::create_hard_link(from, to, no_links_there);
  if (no_links_there) write_file_atomically(to, read_file(from));
}

}  // namespace

void write_directory(const fs::path& directory, const DirectoryWriter& write) {
  try {
    OutputFolder folder(directory);
    write(folder.path());
    add_checksums(folder.path());
    carry_over(directory, folder.path());
    folder.commit();
  } catch (const fs::filesystem_error& error) {
    throw MachineError(fmt::format("{}: cannot write ({})", directory.string(), error.code().message()));
  }
}

std::optional<std::string> damage_of(const fs::path& directory) {
  try {
    const auto sums = read_json_file(directory / kChecksums, {.bytes = 1 << 20, .depth = 1});
    if (!sums.is_object() || sums.empty()) return std::string(kChecksums) + ": not readable";
    for (const auto& [name, sum] : sums.items()) {
      if (!fs::is_regular_file(directory / name)) return name + ": missing";
      if (sha256_of_file(directory / name) != sum.get<std::string>()) return name + ": checksum differs";
    }
  } catch (const nlohmann::json::exception&) {
    return std::string(kChecksums) + ": not readable";
  } catch (const Error& error) {
    return std::string(error.what());
  }
  return std::nullopt;
}

CheckpointStore::CheckpointStore(fs::path directory) : directory_(std::move(directory)) {
  fs::create_directories(directory_);
  identity_ = identity_of(directory_);
  recover_output_folders(directory_, OtherWriters::kNone);
}

void CheckpointStore::save(int64_t update, int64_t keep, const DirectoryWriter& write,
                           const std::set<int64_t>& also) const {
  require_place();
  write_directory(path(update), write);
  remove_others(update, keep, also);
}

void CheckpointStore::replace_file(int64_t update, const std::string& name, std::string_view text, int64_t keep,
                                   const std::set<int64_t>& also) const {
  require_place();
  const auto standing = path(update);
  write_directory(standing, [&](const fs::path& folder) {
    // The sums of what stays are kept: a file that was damaged meanwhile is found out later.
    auto sums = read_json_file(standing / kChecksums);
    for (const auto& [file, sum] : sums.items())
      if (file != name) link_or_copy(standing / file, folder / file);
    sums.erase(name);
    write_file_atomically(folder / kChecksums, sums.dump());
    write_file_atomically(folder / name, text);
  });
  remove_others(update, keep, also);
}

void CheckpointStore::remove(int64_t update) const {
  if (fs::exists(path(update))) remove_folder(path(update));
}

void CheckpointStore::require_place() const {
  if (identity_of(directory_) != identity_)
    throw MachineError(fmt::format("{}: the folder was moved or removed while the run was at work; bring it back",
                                   directory_.string()));
}

void CheckpointStore::remove_others(int64_t update, int64_t keep, const std::set<int64_t>& also) const {
  const auto all = updates();
  const auto surplus = static_cast<int64_t>(all.size()) - std::max<int64_t>(keep, 1);
  for (int64_t i = 0; i < surplus; ++i)
    if (all[i] != update && !also.contains(all[i])) remove_folder(path(all[i]));
}

std::vector<int64_t> CheckpointStore::updates() const {
  std::vector<int64_t> found;
  for (const auto& entry : fs::directory_iterator(directory_)) {
    const auto name = entry.path().filename().string();
    const bool digits = !name.empty() && name.size() <= 12 && name.find_first_not_of("0123456789") == name.npos;
    if (!digits || !entry.is_directory()) continue;
    const int64_t update = std::stoll(name);
    if (path(update).filename() == name) found.push_back(update);  // not another program's "5"
  }
  std::sort(found.begin(), found.end());
  return found;
}

fs::path CheckpointStore::path(int64_t update) const { return directory_ / fmt::format("{:08d}", update); }

void CheckpointStore::set_aside(int64_t update, const std::string& damage, Logger& log) const {
  const auto name = path(update).string() + kDamaged;
  fs::path free = name;
  for (int n = 2; fs::exists(fs::symlink_status(free)); ++n) free = fmt::format("{}-{}", name, n);
  std::error_code error;
  fs::rename(path(update), free, error);
  if (error)
    throw MachineError(
        fmt::format("{}: damaged ({}), and cannot be set aside ({})", path(update).string(), damage, error.message()));
  log.warn("{}: damaged ({}): it is now {}; going back to the checkpoint before", path(update).string(), damage,
           free.filename().string());
}

std::optional<int64_t> CheckpointStore::newest_whole(Logger& log, const DamageOf& damage_in) const {
  const auto all = updates();
  std::vector<std::pair<int64_t, std::string>> damaged;
  for (auto update = all.rbegin(); update != all.rend(); ++update) {
    if (const auto damage = damage_in(path(*update))) {
      damaged.emplace_back(*update, *damage);
      continue;
    }
    for (const auto& [which, what] : damaged) set_aside(which, what, log);
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
