#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file_descriptor.h"
#include "report/records/run_records.h"
#include "report/records/training_observer.h"

namespace nmt {

/// A file that only grows, a record at a time, while others may read it: a log of a run.
class AppendFile {
 public:
  /// Opens it, or makes it and its folder. Throws MachineError if it can't be written to.
  explicit AppendFile(std::filesystem::path path);
  /// Writes all of it or, where the disk refuses, nothing: then MachineError.
  void write(std::string_view record);
  void truncate(int64_t size);            ///< in bytes; throws MachineError
  int64_t size() const { return size_; }  ///< in bytes

 private:
  [[noreturn]] void fail(int reason) const;
  std::filesystem::path path_;
  FileDescriptor file_;
  int64_t size_ = 0;
};

/// What a line of an UpdateLog is about; lines stand in ascending order of updates.
struct UpdateLogKey {
  int64_t update = 0;
  std::string weights = "";  ///< see ValidationReport; empty where it plays no part
  bool operator==(const UpdateLogKey&) const = default;
};

/// A text file with a line for each event of a run, which a resumed run continues as if it had never stopped.
class UpdateLog {
 public:
  /// The key of a line (without its \n); nullopt for what is no line of this log, such as one half written.
  using KeyOf = std::function<std::optional<UpdateLogKey>(std::string_view line)>;

  /// Opens or makes the file. header: its first line, or empty for none. Throws Error if the file has another header.
  UpdateLog(std::filesystem::path path, std::string header, KeyOf key_of);

  /// Drops the lines of later updates and a last one without its end. A line that cannot be read stays or goes with the
  /// one before it. 0: only the header stays.
  void truncate_after(int64_t update);

  /// Adds a line (without \n). Where the last update has a line of the same key, it takes the place of that one and of
  /// those after it: the events are repeated because the run was killed between them and the next checkpoint. Throws
  /// MachineError.
  void append(const UpdateLogKey& key, std::string_view line);

 private:
  std::filesystem::path path_;
  std::string header_;
  KeyOf key_of_;
  std::optional<AppendFile> file_;
  struct Line {
    UpdateLogKey key;
    int64_t start;  ///< where it begins, in bytes
  };
  void remember(Line line);
  std::vector<Line> of_last_update_;
};

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
