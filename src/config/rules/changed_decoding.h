#pragma once

#include <span>
#include <string>

#include "config/config.h"

namespace nmt {

/// A model's own options of decoding, of which those of these names were changed (command line, library): drawing
/// samples needs no beam_size of 1, and what the model says of something that is off now (sampling, diversity_groups 1,
/// shortlist 0) is left out, which check_consistency would refuse and nobody has typed.
void follow_changes(DecodingConfig& decoding, std::span<const std::string> changed);

}  // namespace nmt
