#pragma once

#include <string>

#include "config/config.h"
#include "config/rules/rule_checker.h"

namespace nmt {

/// Contradictions between options that are each fine. Throws Error, with the place of the option to blame, or `name`
/// where none of those involved was set.
void check_consistency(const Config& config, const std::string& name, const Origins& origins = {});

/// Options whose meaning another one changes must be written with it: a default made for the other meaning would be a
/// trap. Throws Error.
void check_explicit(const Config& config, const Origins& origins);

}  // namespace nmt
