#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace nmt::convert {

/// The weights of blocks and norms: our name, and that of Hugging Face's MarianMT.
std::vector<std::pair<std::string, std::string>> marian_block_names(const ModelConfig& config);

/// The same weights: our name, and that of Marian itself ("encoder_l1_self_Wq").
std::vector<std::pair<std::string, std::string>> marian_npz_block_names(const ModelConfig& config);

}  // namespace nmt::convert
