#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nmt {

/// Ascending, each once.
inline void make_distinct(std::vector<int32_t>& tokens) {
  std::ranges::sort(tokens);
  tokens.erase(std::ranges::unique(tokens).begin(), tokens.end());
}

}  // namespace nmt
