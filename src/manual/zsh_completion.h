#pragma once

#include <string>
#include <vector>

#include "base/process/program_description.h"

namespace nmt {

/// One file for nmt and all programs, for a folder of zsh's fpath: _nmt.
std::string zsh_completion(const std::vector<ProgramDescription>& programs);

}  // namespace nmt
