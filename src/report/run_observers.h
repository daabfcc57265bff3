#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/process/log.h"
#include "report/records/run_lines.h"
#include "report/records/training_observer.h"
#include "report/tensorboard/tensorboard_observer.h"

namespace nmt {

struct RunObserverOptions {
  std::filesystem::path directory;  ///< of the run
  bool tensorboard = true;
  TensorBoardTags tensorboard_tags = TensorBoardTags::kPlain;
  CurveIntervals tensorboard_curves = CurveIntervals::kOfLog;
  Facts environment = {};                               ///< versions and machine, for sessions.jsonl and report.html
  std::vector<std::string> other_validation_sets = {};  ///< names, of data.eval
};

/// All that reports a run: what MetricsWriter and TensorBoardObserver write into its directory, the console and log,
/// and at the end report.html. Throws Error or MachineError as these do.
std::unique_ptr<TrainingObserver> make_run_observers(const RunObserverOptions& options, Logger& log);

}  // namespace nmt
