#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "convert/formats/array.h"

namespace nmt::convert {

/// The tensors of a state dictionary as torch.save() wrote it. Throws Error.
std::map<std::string, StoredArray> read_torch_file(std::span<const std::byte> file, const std::string& name);

}  // namespace nmt::convert
