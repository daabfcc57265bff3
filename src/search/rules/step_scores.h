#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "config/config.h"
#include "search/rules/best_tokens.h"
#include "search/rules/row_rules.h"
#include "search/rules/search_options.h"

namespace nmt {

struct TokenScore {
  int32_t token = 0;
  float log_probability = 0;
};

/// The next tokens of all rows.
struct StepScores {
  BestTokens best;                              ///< without those that are banned; none where only_wanted
  std::vector<std::vector<TokenScore>> wanted;  ///< by row, those of RowRules::wanted; empty without rules. Tokens of
                                                ///< probability 0 only where nothing else may be chosen
};

/// Judges logits float32 [rows, vocabulary]. rules: one a row, or none at all. The lists are at least `count` long
/// where the vocabulary has so many allowed tokens; with sampling they hold the one token drawn by `uniforms` (a number
/// in [0, 1) for each row). Log-probabilities are normalised over the whole vocabulary: what is banned keeps its share.
StepScores step_scores(const torch::Tensor& logits, std::span<const RowRules> rules, int64_t count,
                       const DecodingConfig& options = {}, std::span<const double> uniforms = {});

}  // namespace nmt
