#pragma once

#include <filesystem>
#include <optional>

#include "base/files/file_lock.h"
#include "base/process/log.h"
#include "config/config.h"
#include "training/checkpoints/checkpoint.h"

namespace nmt {

/// The folder of one run, held by one process at a time:
///   config.yaml  checkpoints/  best/  log.txt  metrics.jsonl  validations.tsv  samples/  attention/
///   tensorboard/  and what run.naming adds
class RunDirectory {
 public:
  enum class Start { kResume, kRestart };

  /// Makes the folder, or opens one that was begun: once it has a checkpoint, options that decide the weights must be
  /// those of its config.yaml, else Error naming each that differs; the others may differ, with a notice. kRestart
  /// renames an old run to NAME.old-N. What a killed process left half done is finished or undone. Throws Error where
  /// another process holds it (where the file system has no locks there is a warning instead), where the folder has
  /// things of others and no run, where best/ has files that are none of its model, and where a run has results and no
  /// checkpoints.
  RunDirectory(const Config& config, Start start, Logger& log);

  /// Writes config.yaml, once it is known that the run resumes with these options.
  void keep_configuration(const Config& config) const;

  /// Copies a best/ of a later update than the one from which the run resumes to best.of-NNNNNNNN: the run may find
  /// another way than the one that made it.
  void keep_later_best(int64_t update, Logger& log) const;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path best() const { return path_ / "best"; }
  const CheckpointStore& checkpoints() const { return *checkpoints_; }

 private:
  void compare_with_begun(const Config& config, Logger& log) const;
  void refuse_lost_results() const;
  void check_best() const;

  std::filesystem::path path_;
  std::optional<FileLock> lock_;
  std::optional<CheckpointStore> checkpoints_;
};

}  // namespace nmt
