#pragma once

#include <functional>
#include <string_view>

namespace nmt {

/// Of maps from std::string in which a std::string_view is looked up as it is.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

}  // namespace nmt
