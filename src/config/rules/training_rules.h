#pragma once

#include "config/rules/rule_checker.h"

namespace nmt {

/// Contradictions that begin in the section training. Throws Error.
void check_training_rules(const RuleChecker& rules);

/// Contradictions that begin in the sections validation, decoding and evaluation. Throws Error.
void check_use_rules(const RuleChecker& rules);

}  // namespace nmt
