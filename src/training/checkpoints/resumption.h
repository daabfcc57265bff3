#pragma once

#include <torch/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "base/process/log.h"
#include "config/config.h"
#include "training/checkpoints/progress_state.h"

namespace nmt {

/// The state of a run that has not begun: what its bits are a function of besides configuration and data, as it is here
/// and now.
ProgressState fresh_progress(const Config& config, torch::Device device, const std::string& data_hash);

/// What is wrong with a checkpoint: files that are not those of checksums.json, or a state that can't be read; nullopt
/// where all is well. Throws Error for a state of a newer version of the toolkit: nothing is wrong with that.
std::optional<std::string> damage_of_checkpoint(const std::filesystem::path& checkpoint);

/// The state in a checkpoint, to go on from here and now; the number of threads is set to the run's own unless the user
/// named one. Warns of what may change the bits. Throws Error: damaged, written by a newer version, begun with other
/// data or another precision.
ProgressState resumed_progress(const std::filesystem::path& checkpoint, const ProgressState& fresh,
                               const Config& config, Logger& log);

/// The file of a checkpoint that holds a ProgressState.
constexpr const char* kProgressFile = "state.json";

}  // namespace nmt
