#pragma once

#include <string>
#include <vector>

#include "base/process/program_description.h"

namespace nmt {

/// One file for nmt and all programs; it needs nothing but bash 4.
std::string bash_completion(const std::vector<ProgramDescription>& programs);

}  // namespace nmt
