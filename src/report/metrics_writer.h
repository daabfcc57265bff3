#pragma once

#include <filesystem>

#include "report/training_observer.h"
#include "report/update_log.h"

namespace nmt {

/// Writes what a run measures into its directory, for scripts to read:
///   metrics.jsonl        a JSON object for each log interval: the fields of TrainingInterval, and "time" in seconds
///   since
///                        1970; what is not a number is null
///   validations.tsv      a line for each validation under a header; "*" in the first column marks a new best
///   attention/NNNNNNNN.svg picture of the last layer where the target looks at the source, for the first sentence
///   samples/NNNNNNNN.txt source, reference and translation of the samples of the validation at that update
/// A resumed run drops what was written after its checkpoint, so that every update appears once.
class MetricsWriter final : public TrainingObserver {
 public:
  /// Throws Error or MachineError as UpdateLog does; so do all methods.
  explicit MetricsWriter(const std::filesystem::path& run_directory);

  void on_start(const TrainingStart& start) override { truncate_after(start.update); }
  void on_interval(const TrainingInterval& interval) override;
  void on_validation(const ValidationReport& report) override;

  /// Drops everything about later updates.
  void truncate_after(int64_t update);

 private:
  std::filesystem::path samples_, pictures_;
  UpdateLog metrics_, validations_;
};

}  // namespace nmt
