#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/option_listing.h"
#include "report/records/training_observer.h"

namespace nmt {

/// Which mean of checkpoints `weights` of a ValidationReport are, short enough for the name of a file: "average of
/// updates 7, 28, 49" is "of-3-from-7-to-49". Empty for the moving average and for the weights of an update.
std::string averaged_updates(const std::string& weights);

/// The name of the files of a validation, without extension: "00000100"; of the moving average "00000100-average", of a
/// mean of checkpoints "00000100-average-of-3-from-50-to-100".
std::string validation_stem(const ValidationReport& report);

/// The update that a file of a validation is about, by its name; nullopt for other files.
std::optional<int64_t> update_of_file(const std::filesystem::path& path);

// The lines of the files that a run directory keeps of a run, written and read (without \n). What is no such line, one
// half written for instance, is read as nullopt.

/// metrics.jsonl
struct LoggedInterval {
  TrainingInterval interval;  ///< without norms and histograms; what is not a number is NaN
  double time = 0;            ///< seconds since 1970
};
std::string format_interval_line(const LoggedInterval& line);
std::optional<LoggedInterval> parse_interval_line(std::string_view line);

/// validations.tsv; the figures, without texts and attention.
inline constexpr std::string_view kValidationHeader =
    "best\tepoch\tupdate\tloss\tperplexity\taccuracy\tbleu\tchrf\tseconds\tweights\tbleu_line\tchrf_line";
std::string format_validation_line(const ValidationReport& report);
/// The table of another set of data.eval: "validations.NAME.tsv".
std::string other_validations_file(const std::string& name);
/// The names of the sets that have such a table in a run directory, sorted.
std::vector<std::string> other_validation_sets(const std::filesystem::path& run_directory);
std::optional<ValidationReport> parse_validation_line(std::string_view line);

/// sessions.jsonl: from one start of the program to its end.
using Facts = std::vector<std::pair<std::string, std::string>>;  ///< what, which
struct Session {
  int64_t update = 0;   ///< that it resumed from
  double time = 0;      ///< of its start, seconds since 1970
  double end_time = 0;  ///< 0: it did not say that it ended
  std::string end = "";
  Facts environment = {};
};
std::string format_session_line(const Session& session);
std::optional<Session> parse_session_line(std::string_view line);

/// translations/NNNNNNNN.tsv
std::string format_translation_line(const TranslationSample& sentence);
std::optional<TranslationSample> parse_translation_line(std::string_view line);

/// What the files of a run directory tell of a run, whether it has ended or still runs.
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
