#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace nmt::convert {

/// The unpacked members of an archive by name.
using ZipMembers = std::map<std::string, std::string>;

/// The members of a zip archive as PyTorch, NumPy and Marian write them. Throws Error for what is damaged or encrypted,
/// for names that leave the folder, and, before it takes any memory, if the members together are more than twice as
/// large as the file: weights hardly shrink. `name` of the file stands in errors.
ZipMembers read_zip(std::span<const std::byte> file, const std::string& name);

inline std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace nmt::convert
