#pragma once

#include <torch/types.h>

#include <memory>

#include "config/config.h"
#include "models/interface/model.h"
#include "text/codec/codec.h"

namespace nmt {

/// The model of training.teacher; null where the objective has none. Throws Error as load_model() does, and where it
/// reads or writes other pieces than those of the prepared data.
std::shared_ptr<TranslationModel> load_teacher(const TrainingConfig& config, const TextCodec& codec,
                                               torch::Device device);

}  // namespace nmt
