#pragma once

#include <optional>
#include <string>

#include "config/config.h"
#include "training/checkpoints/progress_state.h"

namespace nmt {

/// Why a run ends here, by the first limit that it reached; nullopt: it goes on. minutes: of training, over all
/// sessions.
std::optional<std::string> reason_to_end(const Config& config, const ProgressState& progress, double minutes);

/// Updates until the nearest limit in updates or epochs, for an estimate of the time; nullopt where neither is set.
std::optional<int64_t> updates_left(const TrainingConfig& config, const ProgressState& progress,
                                    int64_t batches_per_epoch);

}  // namespace nmt
