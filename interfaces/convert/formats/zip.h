#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace nmt::convert {

/// Members by name, in the order of the names.
using ZipMembers = std::map<std::string, std::span<const std::byte>>;

/// The members of a zip archive as PyTorch and Marian write them: stored, not compressed, so that nothing in it can be
/// larger than the file. From the bytes of the file, into which the result points. Throws Error for what is damaged,
/// compressed or encrypted, for members that overlap and for names that leave the folder. Checksums are compared.
ZipMembers read_zip(std::span<const std::byte> file, const std::string& name);

/// Also members that are deflated (NumPy's savez_compressed): they go to `unpacked`, which has to live as long as the
/// result. Throws Error, before it takes any memory, if the members together are more than twice as large as the file:
/// weights hardly shrink.
ZipMembers read_zip(std::span<const std::byte> file, const std::string& name,
                    std::deque<std::vector<std::byte>>& unpacked);

}  // namespace nmt::convert
