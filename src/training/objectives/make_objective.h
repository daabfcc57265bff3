#pragma once

#include <memory>

#include "config/config.h"
#include "training/objectives/objective.h"

namespace nmt {

/// Of training.smoothing and smoothing_form.
Smoothing smoothing_of(const TrainingConfig& config);

/// training.objective with its options. Throws Error for an unknown one.
std::unique_ptr<Objective> make_objective(const TrainingConfig& config);
/// The same with training.guided_alignment, which is about the model and decoding.alignment_layer, too.
std::unique_ptr<Objective> make_objective(const Config& config);

}  // namespace nmt
