#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "convert/formats/array.h"
#include "convert/formats/zip_members.h"

namespace nmt::convert {

/// The tensors of a state dictionary as torch.save() wrote it. The result points into the file, or into `members`, to
/// which those of an archive are unpacked. Throws Error.
std::map<std::string, StoredArray> read_torch_file(std::span<const std::byte> file, const std::string& name,
                                                   ZipMembers& members);

}  // namespace nmt::convert
