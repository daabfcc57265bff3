#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/kinds.h"

namespace nmt {

class LogitsRule;

/// Drawing tokens instead of searching for the best: softmax(logits / temperature) over the top_k most probable tokens,
/// of these the fewest whose probabilities sum to top_p (Fan et al. 2018; Holtzman et al. 2020).
struct SamplingOptions {
  double temperature = 1;
  int64_t top_k = 0;  ///< 0 = all
  double top_p = 1;   ///< 1 = all
  uint64_t seed = 1;
  void validate() const;  ///< throws Error
};

struct SearchOptions {
  int64_t beam_size = 4;  ///< 1 = greedy
  double length_penalty = 0.6;
  LengthPenalty length_penalty_form = LengthPenalty::kPaper;
  double max_length_ratio = 2.0;  ///< a hypothesis has at most ratio * source length (with </s>) + offset tokens, </s>
                                  ///< counted
  int64_t max_length_offset = 20;
  int64_t max_length = 0;  ///< and never more than this, 0 = no such limit (learned positions have one)
  int64_t n_best = 1;      ///< hypotheses returned, at most beam_size; with sampling: how many are drawn

  Stopping stopping = Stopping::kHeuristic;
  int64_t min_length = 0;       ///< tokens before </s>
  double coverage_penalty = 0;  ///< beta: re-ranks the finished hypotheses, see coverage_penalty(); 0 = off

  int64_t diversity_groups = 1;  ///< diverse beam search (Vijayakumar et al. 2018): divides beam_size; 1 = off
  double diversity_strength = 0.5;
  std::optional<SamplingOptions> sampling = {};  ///< with beam_size 1

  int64_t no_repeat_ngram_size = 0;                ///< no n-gram of so many tokens appears twice; 0 = off
  double repetition_penalty = 1;                   ///< theta of Keskar et al. 2019, sec. 4.1; 1 = off
  bool ban_unknown = false;                        ///< <unk> is not written
  std::vector<std::vector<int32_t>> banned = {};   ///< sequences of tokens that no hypothesis holds
  Combination combination = Combination::kLinear;  ///< of several models

  bool attention = false;       ///< fill Hypothesis::attention
  int64_t alignment_layer = 0;  ///< decoder layer whose attention that is, from 1; 0 = the last but one
  int64_t alignment_head = 0;   ///< and its head, from 1; 0 = the mean of all
  AlignmentToken alignment_token = AlignmentToken::kOutput;  ///< what a coverage penalty counts is always kOutput

  /// Rules beside those that the options above ask for (logits_rule.h), for programs that bring their own.
  std::vector<std::shared_ptr<const LogitsRule>> rules = {};

  void validate() const;  ///< throws Error

  /// What a log-probability of `tokens` tokens, </s> counted, is divided by.
  double penalty(int64_t tokens) const;
  /// Tokens that a hypothesis for so many source pieces (without </s>) may have, </s> counted; at least 1, and
  /// min_length and </s> unless max_length forbids it.
  int64_t length_limit(int64_t source_pieces) const;
};

}  // namespace nmt
