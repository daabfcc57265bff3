#pragma once

#include <memory>

#include "config/config.h"
#include "training/optimizers/optimizer.h"

namespace nmt {

/// training.optimizer: one switch. Throws Error for an unknown one.
std::unique_ptr<Optimizer> make_optimizer(const TrainingConfig& config, NamedTensors parameters);

}  // namespace nmt
