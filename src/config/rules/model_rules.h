#pragma once

#include "config/rules/rule_checker.h"

namespace nmt {

/// Contradictions that begin in the section model. Throws Error.
void check_model_rules(const RuleChecker& checker);

}  // namespace nmt
