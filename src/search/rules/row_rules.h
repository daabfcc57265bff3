#pragma once

#include <cstdint>
#include <vector>

#include "search/rules/search_input.h"

namespace nmt {

/// A hypothesis of a search, one row of its steps, and what the rules say about its next token.
struct RowRules {
  const SearchInput* input = nullptr;  ///< what it translates
  std::vector<int32_t> tokens = {};    ///< what it has so far, without <s>
  std::vector<int32_t> banned = {};    ///< may not be chosen; may hold a token twice
  std::vector<int32_t> wanted = {};    ///< candidates, however improbable
  bool only_wanted = false;            ///< nothing else may be chosen, and no ban holds
};

}  // namespace nmt
