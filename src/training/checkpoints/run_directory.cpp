#include "training/checkpoints/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/files/file.h"
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

}  // namespace

RunDirectory::RunDirectory(const Config& config, Start start, Logger& log) : path_(config.run.dir) {
  while (!path_.has_filename() && path_.has_relative_path()) path_ = path_.parent_path();  // "runs/x/" is "runs/x"
  if (start == Start::kRestart && fs::exists(path_)) {
    const Lock nobody_else(path_);
    set_aside(path_, log);
  }
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) throw Error(fmt::format("run.dir {}: cannot make the folder ({})", path_.string(), error.message()));
  lock_.emplace(path_);
  const auto begun = path_ / "config.yaml";
  checkpoints_.emplace(path_ / "checkpoints");
  if (fs::exists(begun) && !checkpoints_->updates().empty()) compare_with_begun(config, log);
  write_file_atomically(begun, to_yaml(config, YamlComments::kHelp));
}

RunDirectory::Lock::Lock(const fs::path& directory) {
  const auto file = directory / ".lock";
  descriptor_ = open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (descriptor_ < 0)
    throw Error(fmt::format("run.dir {}: cannot write there ({})", directory.string(), std::strerror(errno)));
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  close(descriptor_);
  throw Error(fmt::format("run.dir {}: another nmt-train is at work there; wait for it or name another --run-dir",
                          directory.string()));
}

RunDirectory::Lock::~Lock() { close(descriptor_); }

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
