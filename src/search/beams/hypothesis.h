#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

namespace nmt {

/// A translation in ids.
struct Hypothesis {
  std::vector<int32_t> ids = {};  ///< without <s> and </s>
  double log_probability = 0;     ///< summed over its tokens, </s> included; natural logarithm
  double coverage_penalty = 0;    ///< beta * coverage(): 0 or less
  double score = 0;               ///< log_probability divided by the length penalty, plus the coverage penalty
  bool finished = true;           ///< ended with </s> (otherwise cut at the length limit)
  bool meets_constraints = true;  ///< every phrase that must appear does
  std::vector<float> token_log_probabilities = {};  ///< of each token, </s> included
  std::vector<float> attention =
      {};  ///< [tokens, source pieces] row-major, where asked for; see hypothesis_attention.h
};

/// The best first: what ended before what was cut, then what holds its phrases, then by score.
inline void sort_best_first(std::vector<Hypothesis>& hypotheses) {
  std::ranges::stable_sort(hypotheses, std::ranges::greater(), [](const Hypothesis& one) {
    return std::tuple(one.finished, one.meets_constraints, one.score);
  });
}

}  // namespace nmt
