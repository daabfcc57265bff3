#pragma once

#include <torch/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/process/log.h"
#include "config/loading/schema.h"
#include "report/records/run_records.h"
#include "report/records/training_observer.h"
#include "training/checkpoints/progress_state.h"
#include "training/checkpoints/run_directory.h"
#include "training/distributed/launched_process.h"
#include "training/distributed/process_group.h"
#include "training/loop/update_loop.h"

namespace nmt {

/// A run as one of its processes is told of it.
struct TrainingRun {
  const LoadedConfig& loaded;
  LaunchedProcess process = {};
  torch::Device device = torch::kCPU;
  ProcessGroup& group;
  RunDirectory::Start start = RunDirectory::Start::kResume;
  std::optional<int64_t> profile = {};  ///< updates to trace (UpdateProfiler)
  Facts versions = {};                  ///< of what the program is linked with, for sessions.jsonl and report.html
  /// The same in each process; they hear everything in the one that leads, after those that write.
  std::vector<std::unique_ptr<TrainingObserver>> observers = {};
  StopSignal stop_signal = nmt::stop_signal;
};

struct TrainingOutcome {
  int exit_code = 0;  ///< of Trainer::run()
  ProgressState progress = {};
};

/// nmt-train's work: opens the prepared data and the run directory, makes those who watch, and trains. Sets LibTorch's
/// number of threads. The log gets the run directory's log.txt as a further sink. Throws Error, MachineError.
TrainingOutcome run_training(TrainingRun run, Logger& log);

}  // namespace nmt
