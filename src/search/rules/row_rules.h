#pragma once

#include <cstdint>
#include <vector>

namespace nmt {

/// What the rules of its sentence say about the next token of one row.
struct RowRules {
  std::vector<int32_t> banned = {};  ///< may not be chosen; may hold a token twice
  std::vector<int32_t> wanted = {};  ///< their log-probabilities are asked for, banned or not
  std::vector<int32_t> seen = {};    ///< distinct tokens that the repetition penalty is for
};

}  // namespace nmt
