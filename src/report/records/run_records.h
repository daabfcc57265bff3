#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/difference.h"
#include "report/records/run_lines.h"
#include "report/records/training_observer.h"

namespace nmt {

/// What the files of a run directory tell of a run, whether it has ended or goes on.
struct RunRecords {
  std::string name = {};
  std::vector<LoggedInterval> intervals = {};
  std::vector<ValidationReport> validations = {};  ///< figures only
  /// The same of each other set of data.eval.
  std::map<std::string, std::vector<ValidationReport>> other_validations = {};
  /// The best validation, or the newest of which there is more than figures: with translations and attention.
  std::optional<ValidationReport> shown = {};
  std::vector<Session> sessions = {};
  std::string configuration = {};  ///< config.yaml as it stands
  std::vector<ConfigDifference> changed =
      {};  ///< options that are not at their defaults; none if this version can't read it
};

/// Throws Error where the folder is no run directory or one of its files is not what nmt-train writes there.
RunRecords read_run(const std::filesystem::path& run_directory);

/// Seconds that the sessions took, as far as they are recorded.
double seconds_of_training(const RunRecords& records);

}  // namespace nmt
