#pragma once

#include "config/rules/rule_checker.h"

namespace nmt {

/// Contradictions that begin in the section training. Throws Error.
void check_training_rules(const RuleChecker& checker);

}  // namespace nmt
