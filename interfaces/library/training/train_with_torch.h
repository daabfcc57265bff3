#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/process/log.h"
#include "config/loading/schema.h"
#include "nmt/trainer.h"

namespace nmt::api {

/// What a run of Trainer computes with LibTorch is told.
struct TrainingJob {
  const nmt::LoadedConfig& configuration;
  const TrainingCallbacks& callbacks;
  const StopToken& stop;
  bool& restart;  ///< false from where the run begins again
  nmt::Logger& log;
};

/// And what it says of the run.
struct TrainedRun {
  bool stopped = false;
  std::string reason;  ///< why it ended where it was not stopped
  std::int64_t updates = 0;
  bool has_best = false;                       ///< there was a validation, in this session or before it
  std::optional<ValidationFigures> best = {};  ///< the best one of this session
};

}  // namespace nmt::api

/// nmt-train's work in one process. A program that is linked with LibTorch has this function
/// (interfaces/library/training); in others it is that of libnmt_torch.so. One call at a time. Throws what
/// run_training() throws, what callbacks throw as CallbackFailure (library/inner/guard.h), and as
/// require_matching_torch() (models/guest_model.h).
extern "C" void nmt_train_with_torch(const nmt::api::TrainingJob& job, nmt::api::TrainedRun& trained);
