#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nmt {

/// Insertions, deletions, replacements and swaps of neighbours that turn one into the other (optimal string alignment).
/// It costs the product of both lengths.
size_t edit_distance(std::string_view a, std::string_view b);

/// How far a name may be from what it is taken for: a third of its letters, but at least one and at most three.
size_t tolerated_distance(std::string_view name);

/// What a name is most probably meant to be: the nearest of those within the tolerated distance, else the first that
/// begins with it; nullopt where there is none.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> names);

}  // namespace nmt
