#pragma once

#include <string>
#include <vector>

#include "base/process/program_description.h"

namespace nmt {

/// For nmt itself, whose commands the programs are: nmt.fish.
std::string fish_completion(const std::vector<ProgramDescription>& programs);
/// For a program under its own name, by which fish looks for the file: nmt-train.fish.
std::string fish_completion(const ProgramDescription& program);

}  // namespace nmt
