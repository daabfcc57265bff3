#include "training/checkpoints/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "base/folders/output_folder.h"
#include "config/loading/schema.h"
#include "config/option_listing.h"
#include "data/manifest.h"
#include "report/records/run_records.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

constexpr std::array kMarks = {".lock", "checkpoints", "best"};  // each tells that the folder is a run

// Scores that were measured with other values of it cannot be compared.
bool changes_measure(const std::string& key, ValidationMetric best_metric) {
  if (best_metric == ValidationMetric::kLoss) return key == "validation.teacher_forcing";
  return key == "validation.beam_size" || key == "validation.max_sentences" ||
         (key.starts_with("decoding.") && key != "decoding.batch_size");
}

// Another program's files are neither mixed with those of a run nor moved away with them. Files alone may be what a
// launcher writes of the run, before it has begun: they stay, and only --restart asks what they are.
void refuse_foreign(const fs::path& directory, RunDirectory::Start start) {
  const auto has = [&](const char* name) { return fs::exists(directory / name); };
  const bool is_run = std::any_of(kMarks.begin(), kMarks.end(), has);
  const bool restarts = start == RunDirectory::Start::kRestart;
  if (has(kManifestFile) && (restarts || !is_run))
    throw Error(
        fmt::format("run.dir {}: prepared data lie there, as data.dir; name another --run-dir", directory.string()));
  if (is_run || !fs::is_directory(directory)) return;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const auto name = entry.path().filename().string();
    if (name == "config.yaml" && entry.is_regular_file())
      parse_config(read_file(entry.path()), entry.path().string());  // throws Error for another program's
    else if (restarts || entry.is_directory())
      throw Error(fmt::format("run.dir {}: a folder with other things ({}) and no run; name another --run-dir",
                              directory.string(), name));
  }
}

void set_aside(const fs::path& path, Logger& log) {
  const auto old = next_free_name(path.string() + ".old");
  std::error_code error;
  fs::rename(path, old, error);
  if (error)
    throw Error(fmt::format(
        "run.dir {}: --restart cannot rename the folder to {} ({}); name another --run-dir, and a folder by "
        "its name, not as . or ..",
        path.string(), old.string(), error.message()));
  log.info("the old run is now {}", old.string());
}

bool has_validated(const fs::path& table) {
  if (!fs::exists(table)) return false;
  std::istringstream text(read_file(table));
  for (std::string line; std::getline(text, line);)
    if (parse_validation_line(line)) return true;
  return false;
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
  refuse_foreign(path_, start);
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
  for (const auto& kept : recover_output_folders(path_, files_of_directory)) warn_of_kept(kept, log);
  checkpoints_.emplace(path_ / "checkpoints", log);
  if (checkpoints_->updates().empty())  // whatever else lies there
    refuse_lost_results();
  else if (fs::exists(path_ / "config.yaml"))
    compare_with_begun(config, log);
  else
    log.warn("{}: is missing: nothing tells whether the run resumes with the options that it was begun with",
             (path_ / "config.yaml").string());
  check_best();
}

void RunDirectory::keep_configuration(const Config& config) const {
  write_file_atomically(path_ / "config.yaml", to_yaml(config, YamlComments::kHelp));
}

void RunDirectory::keep_later_best(int64_t update, Logger& log) const {
  if (!fs::is_regular_file(best() / "model.json")) return;
  const auto description = parse_json_or_null(read_file(best() / "model.json"));
  const nlohmann::json::json_pointer place("/summary/update");
  const auto of_best = description.contains(place) ? whole_number(description[place]) : std::nullopt;
  if (!of_best) return;  // not a run's
  const auto copy = path_ / fmt::format("best.of-{:08d}", *of_best);
  if (*of_best <= update || fs::exists(copy) || damage_of(best())) return;
  write_directory(copy, [this](const fs::path& folder) {
    for (const auto& file : files_of_directory(best()))
      if (file != "checksums.json") fs::copy_file(best() / file, folder / file);
  });
  log.warn("{}: has weights of update {}, and the run resumes from update {}: {} keeps them", best().string(), *of_best,
           update, copy.string());
}

// Checkpoints that someone removed: UpdateLoop saves one before its first validation, so before there is a best/.
void RunDirectory::refuse_lost_results() const {
  std::error_code none;
  const bool has_best = fs::exists(best()) && !fs::is_empty(best(), none);
  if (!has_best && !has_validated(path_ / "validations.tsv")) return;
  throw Error(
      fmt::format("run.dir {}: a run without checkpoints: a new one would replace its {}; bring the checkpoints back, "
                  "name another --run-dir, or --restart to set the old run aside",
                  path_.string(), has_best ? "best/" : "validations.tsv"));
}

// Before the work: a link to nothing, a mount point, and what would be lost when a better model takes the place.
void RunDirectory::check_best() const {
  const OutputFolder place(best(), files_of_directory);
  if (!fs::is_directory(best())) return;
  if (const auto name = foreign_entry(best(), files_of_directory(best())))
    throw Error(fmt::format(
        "{}: holds {}, which its checksums.json does not name; move it to another folder, since each new best "
        "model replaces this one",
        best().string(), *name));
}

void RunDirectory::compare_with_begun(const Config& config, Logger& log) const {
  const auto begun = path_ / "config.yaml";
  const auto before = parse_config(read_file(begun), begun.string()).config;
  std::string refused;
  for (const auto& difference : differences(before, config)) {
    if (difference.key == "run.dir") continue;  // the folder was moved
    if (changes_measure(difference.key, config.validation.best_metric))
      log.warn("changed since the run began: {}: {} -> {}; the best score so far was measured with the old value",
               difference.key, difference.before, difference.after);
    else if (difference.may_change_on_resume)
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
