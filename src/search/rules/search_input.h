#pragma once

#include <cstdint>
#include <vector>

namespace nmt {

/// A sentence to translate.
struct SearchInput {
  std::vector<std::vector<int32_t>> sources = {};      ///< pieces without </s>, one list for each model
  std::vector<int32_t> prefix = {};                    ///< tokens the translation begins with; </s> may be the last
  std::vector<std::vector<int32_t>> must_appear = {};  ///< phrases that the translation holds
  std::vector<std::vector<int32_t>> banned = {};       ///< and those that it does not, beside SearchOptions::banned
  /// What it may be written with beside the special symbols, the prefix and phrases that must appear; empty: the whole
  /// vocabulary. All inputs of a search have candidates, or none.
  std::vector<int32_t> candidates = {};
  int64_t n_best = 0;      ///< hypotheses that are wanted of it; 0: SearchOptions::n_best. Not with sampling
  bool attention = false;  ///< fill Hypothesis::attention, also where SearchOptions::attention is false
  /// The hypotheses all go on differently behind the prefix: its beam_size most probable continuations by one token,
  /// each of which goes its own way from there (greedy search). Not with sampling or groups.
  bool distinct = false;
  int64_t number = 0, part = 0;  ///< samples are a function of (seed, number, part)
};

}  // namespace nmt
