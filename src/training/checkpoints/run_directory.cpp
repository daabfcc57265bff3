#include "training/checkpoints/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/output_folder.h"
#include "config/difference.h"
#include "config/loading/schema.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

void set_aside(const fs::path& path, Logger& log) {
  if (!fs::exists(path)) return;
  for (int n = 1;; ++n) {
    const fs::path old = fmt::format("{}.old-{}", path.string(), n);
    if (fs::exists(old)) continue;
    fs::rename(path, old);
    log.info("the old run is now {}", old.string());
    return;
  }
}

FileLock lock_of(const fs::path& directory) {
  const auto path = directory / ".lock";
  FileDescriptor file(::open(path.c_str(), O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (file.number() < 0)
    throw Error(fmt::format("run.dir {}: cannot write there ({})", directory.string(), system_message(errno)));
  FileLock lock(std::move(file));
  if (lock.is_busy())
    throw Error(fmt::format("run.dir {}: another nmt-train is at work there; wait for it or name another --run-dir",
                            directory.string()));
  return lock;
}

}  // namespace

RunDirectory::RunDirectory(const Config& config, Start start, Logger& log) : path_(config.run.dir) {
  while (!path_.has_filename() && path_.has_relative_path()) path_ = path_.parent_path();  // "runs/x/" is "runs/x"
  if (start == Start::kRestart && fs::exists(path_)) {
    const FileLock nobody_else = lock_of(path_);
    set_aside(path_, log);
  }
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) throw Error(fmt::format("run.dir {}: cannot make the folder ({})", path_.string(), error.message()));
  lock_.emplace(lock_of(path_));
  if (!lock_->problem().empty())
    log.warn("run.dir {}: this file system has no locks ({}): start only one nmt-train there", path_.string(),
             lock_->problem());
  recover_output_folders(path_, OtherWriters::kNone);  // best/
  const auto begun = path_ / "config.yaml";
  checkpoints_.emplace(path_ / "checkpoints");
  if (fs::exists(begun) && !checkpoints_->updates().empty()) compare_with_begun(config, log);
  write_file_atomically(begun, to_yaml(config, YamlComments::kHelp));
}

void RunDirectory::compare_with_begun(const Config& config, Logger& log) const {
  const auto begun = path_ / "config.yaml";
  const auto before = parse_config(read_file(begun), begun.string()).config;
  std::string refused;
  for (const auto& difference : differences(before, config)) {
    if (difference.key == "run.dir") continue;  // the folder was moved
    if (difference.may_change_on_resume)
      log.info("changed since the run began: {}: {} -> {}", difference.key, difference.before, difference.after);
    else
      refused += fmt::format("{}{}: {} -> {}", refused.empty() ? "" : ", ", difference.key, difference.before,
                             difference.after);
  }
  if (!refused.empty())
    throw Error(
        fmt::format("run.dir {}: this run was begun with other options ({}); use the old ones, another --run-dir, or "
                    "--restart to set the old run aside",
                    path_.string(), refused));
}

}  // namespace nmt
