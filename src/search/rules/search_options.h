#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "config/config.h"

namespace nmt {

class LogitsRule;

/// What a search is asked for: the section `decoding` of the configuration, and what only a caller can say. Options of
/// the section that belong to more than a search (banned_phrases, batch_size, precision, shortlist) are its caller's.
struct SearchOptions : DecodingConfig {
  int64_t n_best = 1;  ///< hypotheses returned, at most beam_size; with sampling: how many are drawn
  std::vector<std::vector<int32_t>> banned = {};  ///< sequences of tokens that no hypothesis holds
  bool attention = false;                         ///< fill Hypothesis::attention
  /// Rules beside those that the options ask for (logits_rule.h), for programs that bring their own.
  std::vector<std::shared_ptr<const LogitsRule>> rules = {};

  void validate() const;  ///< throws Error

  /// What a log-probability of `tokens` tokens, </s> counted, is divided by.
  double penalty(int64_t tokens) const;
  /// Tokens that a hypothesis for so many source pieces (without </s>) may have, </s> counted; at least 1, and
  /// min_length and </s> unless max_length forbids it.
  int64_t length_limit(int64_t source_pieces) const;
};

}  // namespace nmt
