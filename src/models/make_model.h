#pragma once

#include <cstdint>
#include <memory>

#include "config/config.h"
#include "models/interface/model.h"

namespace nmt {

/// The architectures: one switch. Throws Error naming all of them for an unknown one.
std::shared_ptr<TranslationModel> make_model(const ModelConfig& config, int64_t source_vocabulary,
                                             int64_t target_vocabulary);

/// Initial weights, a function of (config, seed): each module draws its own (HasInitialValues) from what the
/// configuration says.
void initialise(TranslationModel& model, const ModelConfig& config, uint64_t seed);

}  // namespace nmt
