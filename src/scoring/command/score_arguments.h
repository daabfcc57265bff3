#pragma once

#include <string>
#include <vector>

#include "base/process/program_description.h"
#include "scoring/command/argument_parser.h"

namespace nmt::scoring {

/// Every option of nmt-score: sacreBLEU's, in sacreBLEU's order, and those besides.
const std::vector<ArgumentOption>& score_arguments();

/// The command line in words; score_help() and the manual page are made of it.
ProgramDescription score_description();

/// What --help prints.
std::string score_help();

}  // namespace nmt::scoring
