#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nmt {

/// Ascending, each once.
inline void make_distinct(std::vector<int32_t>& tokens) {
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
}

}  // namespace nmt
