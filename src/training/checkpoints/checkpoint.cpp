#include "training/checkpoints/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/file.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

constexpr const char* kChecksums = "checksums.json";
constexpr const char* kPartial = ".partial";

// Of the files whose sums do not stand there yet.
void add_checksums(const fs::path& directory) {
  nlohmann::json sums = nlohmann::json::object();
  if (fs::exists(directory / kChecksums)) sums = nlohmann::json::parse(read_file(directory / kChecksums));
  for (const auto& entry : fs::directory_iterator(directory)) {
    const auto name = entry.path().filename().string();
    if (name != kChecksums && !sums.contains(name)) sums[name] = sha256_of_file(entry.path());
  }
  write_file_atomically(directory / kChecksums, sums.dump(1) + "\n");
}

// Moves `from` to `to`; what stood at `to` is then at `from`.
void swap_or_rename(const fs::path& from, const fs::path& to) {
  if (!fs::exists(to)) return fs::rename(from, to);
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0)
    throw MachineError(fmt::format("{}: cannot swap into place ({})", to.string(), std::strerror(errno)));
}

void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code no_links_there;
  fs::create_hard_link(from, to, no_links_there);
  if (no_links_there) write_file_atomically(to, read_file(from));
}

}  // namespace

void write_directory(const fs::path& directory, const DirectoryWriter& write) {
  const fs::path partial = directory.string() + kPartial;
  try {
    fs::remove_all(partial);
    fs::create_directories(partial);
    write(partial);
    add_checksums(partial);
    sync_directory(partial);
    swap_or_rename(partial, directory);
    sync_directory(directory.parent_path());
  } catch (const fs::filesystem_error& error) {
    std::error_code ignored;
    fs::remove_all(partial, ignored);
    throw MachineError(fmt::format("{}: cannot write ({})", directory.string(), error.code().message()));
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(partial, ignored);
    throw;
  }
  fs::remove_all(partial);
}

std::optional<std::string> damage_of(const fs::path& directory) {
  try {
    const auto sums = nlohmann::json::parse(read_file(directory / kChecksums));
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
  for (const auto& entry : fs::directory_iterator(directory_))
    if (entry.path().extension() == kPartial) fs::remove_all(entry.path());
}

void CheckpointStore::save(int64_t update, int64_t keep, const DirectoryWriter& write,
                           const std::set<int64_t>& also) const {
  write_directory(path(update), write);
  remove_others(update, keep, also);
}

void CheckpointStore::replace_file(int64_t update, const std::string& name, std::string_view text, int64_t keep,
                                   const std::set<int64_t>& also) const {
  const auto standing = path(update);
  write_directory(standing, [&](const fs::path& folder) {
    // The sums of what stays are kept: a file that was damaged meanwhile is found out later.
    auto sums = nlohmann::json::parse(read_file(standing / kChecksums));
    for (const auto& [file, sum] : sums.items())
      if (file != name) link_or_copy(standing / file, folder / file);
    sums.erase(name);
    write_file_atomically(folder / kChecksums, sums.dump());
    write_file_atomically(folder / name, text);
  });
  remove_others(update, keep, also);
}

void CheckpointStore::remove_others(int64_t update, int64_t keep, const std::set<int64_t>& also) const {
  const auto all = updates();
  const auto surplus = static_cast<int64_t>(all.size()) - std::max<int64_t>(keep, 1);
  for (int64_t i = 0; i < surplus; ++i)
    if (all[i] != update && !also.contains(all[i])) fs::remove_all(path(all[i]));
}

std::vector<int64_t> CheckpointStore::updates() const {
  std::vector<int64_t> found;
  for (const auto& entry : fs::directory_iterator(directory_)) {
    const auto name = entry.path().filename().string();
    const bool digits = !name.empty() && name.size() <= 12 && std::all_of(name.begin(), name.end(), ::isdigit);
    if (digits && entry.is_directory()) found.push_back(std::stoll(name));
  }
  std::sort(found.begin(), found.end());
  return found;
}

fs::path CheckpointStore::path(int64_t update) const { return directory_ / fmt::format("{:08d}", update); }

std::optional<int64_t> CheckpointStore::newest_whole(Logger& log, const DamageOf& damage_in) const {
  auto all = updates();
  for (auto update = all.rbegin(); update != all.rend(); ++update) {
    const auto damage = damage_in(path(*update));
    if (!damage) return *update;
    log.warn("{}: damaged ({}): removed, going back to the checkpoint before", path(*update).string(), *damage);
    fs::remove_all(path(*update));
  }
  return std::nullopt;
}

}  // namespace nmt
