#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "data/manifest.h"

namespace nmt {

/// Every file that `config` names, with size and time, in order. Throws Error for one that is missing or no regular
/// file.
std::vector<InputFile> list_input_files(const Config& config);

/// What is likely a slip in the data section, a line each: a language that ISO 639 has no code for.
std::vector<std::string> input_warnings(const DataConfig& data);

}  // namespace nmt
