#pragma once

#include "config/config.h"
#include "data/batches.h"
#include "text/codec/codec.h"

namespace nmt {

/// The training batches that a configuration asks for, subword sampling included. Throws Error where the tokenizer is
/// of another kind than the sampling needs.
BatchOptions batch_options(const Config& config, const TextCodec& codec);

}  // namespace nmt
