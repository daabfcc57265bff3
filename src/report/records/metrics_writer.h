#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "report/records/run_lines.h"
#include "report/records/training_observer.h"
#include "report/records/update_log.h"

namespace nmt {

/// Writes what a run measures into its directory, for scripts and for report.html to read:
///   metrics.jsonl            a JSON object for each log interval: the fields of TrainingInterval, and "time" in
///   seconds
///                            since 1970; what is not a number is null
///   validations.tsv          a line for each validation under a header; "*" in the first column marks a new best
///   sessions.jsonl           a JSON object for each start of the program: when, from which update, with which versions
///   samples/NNNNNNNN.txt     source, reference and translation of the samples of the validation at that update
///   attention/NNNNNNNN.svg   picture of the last layer where the target looks at the source, for the first sentence
///   attention/NNNNNNNN.json  weights of all such layers, for the sentences that validation.attention_samples counts
///   translations/NNNNNNNN.tsv source, reference and translation of all that was translated
///   validations.NAME.tsv     the same table of each other set of data.eval
/// Of averaged weights the names are longer (validation_stem), so that each validation of an update has its own files.
/// Translations and weights are kept of the best and of the last validation. A resumed run drops what was written after
/// its checkpoint, so that every update appears once.
class MetricsWriter final : public TrainingObserver {
 public:
  /// environment: facts about programs and machine for sessions.jsonl, beside what TrainingStart tells. other_sets: the
  /// names of the other sets of data.eval; what else is named like their tables is someone else's. Throws Error or
  /// MachineError as UpdateLog does; so do all methods.
  explicit MetricsWriter(const std::filesystem::path& run_directory, Facts environment = {},
                         std::vector<std::string> other_sets = {});

  void on_start(const TrainingStart& start) override;
  void on_interval(const TrainingInterval& interval) override;
  void on_validation(const ValidationReport& report) override;
  void on_checkpoint(int64_t update) override;
  void on_end(const std::string& reason) override;

  /// Drops everything about later updates.
  void truncate_after(int64_t update);

 private:
  UpdateLog& log_of_set(const std::string& name);
  void write_texts(const ValidationReport& report, const std::string& stem) const;
  void write_attention(const ValidationReport& report, const std::string& stem) const;

  std::filesystem::path samples_, pictures_, translations_, validation_table_;
  Facts environment_;
  std::vector<std::string> other_sets_;
  UpdateLog metrics_, validations_, sessions_;
  std::map<std::string, UpdateLog> other_validations_;  ///< by the name of the set
  Session session_;
  std::string best_, last_;  ///< names of the files of these validations, without extension
};

}  // namespace nmt
