#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace nmt::interop {

/// The members of a zip archive as PyTorch and NumPy write them: stored, not compressed, so that nothing in it can be
/// larger than the file. From the bytes of the file, into which the result points. Throws Error for what is damaged,
/// compressed or encrypted, for members that overlap and for names that leave the folder. Checksums are compared.
std::map<std::string, std::span<const std::byte>> read_zip(std::span<const std::byte> file, const std::string& name);

}  // namespace nmt::interop
