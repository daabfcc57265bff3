#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace nmt::documents {

/// The spaces of a subtitle that become line ends: none where it fits on a line of `width` characters, else as few
/// lines as fit, at most `most_lines`, of lengths as equal as words allow.
std::vector<size_t> balanced_breaks(std::string_view text, size_t width, size_t most_lines);

}  // namespace nmt::documents
