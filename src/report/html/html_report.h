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

/// Writes report.html when a session ends. What hinders it is a warning: the run is done by then.
class ReportObserver final : public TrainingObserver {
 public:
  ReportObserver(std::filesystem::path run_directory, Logger& log) : directory_(std::move(run_directory)), log_(log) {}
  void on_end(const std::string& reason) override;

 private:
  std::filesystem::path directory_;
  Logger& log_;
};

}  // namespace nmt
