#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <vector>

#include "config/config.h"

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
  /// The hypotheses all continue differently behind the prefix: its beam_size most probable continuations by one token,
  /// each of which goes its own way from there (greedy search). Not with sampling or groups.
  bool distinct = false;
  int64_t no_repeat_ngram_size = 0;  ///< beside SearchOptions::no_repeat_ngram_size; 0: none
  int64_t number = 0, part = 0;      ///< samples are a function of (seed, number, part)
};

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

class LogitsRule;

/// What a search is asked for: the section `decoding` of the configuration, and what only a caller can say. Options of
/// the section that belong to more than a search (banned_phrases, batch_size, precision, shortlist) are its caller's.
struct SearchOptions : DecodingConfig {
  int64_t n_best = 1;  ///< hypotheses returned, at most beam_size; with sampling: how many are drawn
  std::vector<std::vector<int32_t>> banned = {};  ///< sequences of tokens that no hypothesis holds
  bool attention = false;                         ///< fill Hypothesis::attention
  /// Rules beside those that the options ask for (LogitsRule), for programs that bring their own.
  std::vector<std::shared_ptr<const LogitsRule>> rules = {};

  void validate() const;  ///< throws Error

  /// What a log-probability of `tokens` tokens, </s> counted, is divided by.
  double penalty(int64_t tokens) const;
  /// Tokens that a hypothesis for so many source pieces (without </s>) may have, </s> counted; at least 1, and
  /// min_length and </s> unless max_length forbids it.
  int64_t length_limit(int64_t source_pieces) const;
};

}  // namespace nmt
