#pragma once

#include <filesystem>
#include <span>

#include "models/interface/safetensors.h"

namespace nmt {

/// Sets each target to the mean of the tensors of its name in the files (Vaswani et al. 2017, sec. 6.1), summed in
/// double. Throws Error where a file does not fit.
void load_average(const NamedTensors& targets, std::span<const std::filesystem::path> files);

}  // namespace nmt
