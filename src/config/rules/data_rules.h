#pragma once

#include "config/rules/rule_checker.h"

namespace nmt {

/// Contradictions that begin in the section data: texts, cleaning, vocabularies. Throws Error.
void check_data_rules(const RuleChecker& checker);

}  // namespace nmt
