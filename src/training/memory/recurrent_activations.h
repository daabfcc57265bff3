#pragma once

#include <cstdint>
#include <vector>

#include "config/config.h"
#include "training/memory/activations.h"

namespace nmt {

/// The parts of a recurrent model, without its output layer. docs/training.md#memory has the formulas.
std::vector<PartActivations> recurrent_activations(const Config& config, const BatchShape& batch,
                                                   const ComputePlace& place);

/// Features of what enters the output layer, of any model.
int64_t output_features(const ModelConfig& model);

}  // namespace nmt
