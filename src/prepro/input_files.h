#pragma once

#include <vector>

#include "config/config.h"
#include "data/manifest.h"

namespace nmt {

/// Every file that `config` names, with size and time, in order. Throws Error for one that is missing or no regular
/// file.
std::vector<InputFile> list_input_files(const Config& config);

}  // namespace nmt
