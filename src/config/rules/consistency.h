#pragma once

#include <span>
#include <string>

#include "config/config.h"
#include "config/rules/rule_checker.h"

namespace nmt {

/// A model's own options of decoding, of which those of these names were changed (command line, library): drawing
/// samples needs no beam_size of 1, and what the model says of something that is off now (sampling, diversity_groups 1,
/// shortlist 0) is left out, which check_consistency would refuse and nobody has typed.
void follow_changes(DecodingConfig& decoding, std::span<const std::string> changed);

/// Contradictions between options that are each fine. Throws Error, with the place of the option to blame, or `name`
/// where none of those involved was set.
void check_consistency(const Config& config, const std::string& name, const Origins& origins = {});

/// Options whose meaning another one changes must be written with it: a default made for the other meaning would be a
/// trap. Throws Error.
void check_explicit(const Config& config, const Origins& origins);

}  // namespace nmt
