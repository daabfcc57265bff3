#pragma once

#include "config/config.h"
#include "data/batches.h"
#include "data/prepared_data.h"

namespace nmt {

/// The training batches that a configuration asks for: stages, augmentation, subword sampling and links included;
/// corpus_weights are those of the first stage. Throws Error where the tokenizer is of another kind than the sampling
/// needs, and where a corpus of a stage has no pairs or would come too often.
BatchOptions batch_options(const Config& config, const PreparedData& data);

}  // namespace nmt
