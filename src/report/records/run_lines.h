#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/records/training_observer.h"

namespace nmt {

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
  int64_t update = 0;   ///< that it went on from
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

}  // namespace nmt
