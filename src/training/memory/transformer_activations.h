#pragma once

#include <vector>

#include "config/config.h"
#include "training/memory/activations.h"

namespace nmt {

/// The parts of a Transformer, without its output layer. docs/training.md#memory has the formulas.
std::vector<PartActivations> transformer_activations(const Config& config, const BatchShape& batch,
                                                     const ComputePlace& place);

}  // namespace nmt
