#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace nmt::interop {

/// The weights of blocks and norms: our name, and that of Hugging Face's MarianMT.
std::vector<std::pair<std::string, std::string>> marian_block_names(const ModelConfig& config);

}  // namespace nmt::interop
