#pragma once

#include <filesystem>
#include <memory>

#include "base/log.h"
#include "report/tensorboard_observer.h"
#include "report/training_observer.h"

namespace nmt {

struct RunObserverOptions {
  std::filesystem::path directory;  ///< of the run
  bool tensorboard = true;
  TensorBoardTags tensorboard_tags = TensorBoardTags::kPlain;
};

/// All that reports a run: metrics.jsonl, validations.tsv, samples/, tensorboard/ in its directory, and the console and
/// log. Throws Error or MachineError as these do.
std::unique_ptr<TrainingObserver> make_run_observers(const RunObserverOptions& options, Logger& log);

}  // namespace nmt
