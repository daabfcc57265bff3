#pragma once

#include <filesystem>
#include <string>

#include "base/process/log.h"
#include "report/records/run_records.h"
#include "report/records/training_observer.h"

namespace nmt {

/// One page that needs nothing beside it: curves, validations, best and worst translations, scores by length,
/// attention, configuration and environment. It can be read without a script; with one, curves and attention answer the
/// pointer.
std::string html_report(const RunRecords& records);

/// Writes report.html into a run directory, from what stands there; returns its path. Throws as read_run, and
/// MachineError.
std::filesystem::path write_report(const std::filesystem::path& run_directory);

/// Writes report.html when a session ends, and meanwhile after intervals and validations: at most each 30 s, and for at
/// most a fiftieth of the time. What hinders it is a warning; then only the end tries again.
class ReportObserver final : public TrainingObserver {
 public:
  ReportObserver(std::filesystem::path run_directory, Logger& log, Clock clock = steady_seconds)
      : directory_(std::move(run_directory)), log_(log), clock_(std::move(clock)) {}
  void on_interval(const TrainingInterval&) override { refresh(); }
  void on_validation(const ValidationReport&) override { refresh(); }
  void on_end(const std::string& reason) override;

 private:
  void refresh();
  bool write();

  std::filesystem::path directory_;
  Logger& log_;
  Clock clock_;
  double next_ = 0;  // seconds: not before
};

}  // namespace nmt
