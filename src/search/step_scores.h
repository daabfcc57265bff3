#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "config/config.h"
#include "search/logits_rules.h"
#include "search/search_options.h"

namespace nmt {

/// The most probable next tokens of each row, best first; tokens of equal probability by id.
struct BestTokens {
  int64_t width = 0;                     ///< tokens a row
  std::vector<int32_t> ids;              ///< [rows, width]; kNone where a row has fewer
  std::vector<float> log_probabilities;  ///< [rows, width], natural logarithm over the whole vocabulary
  static constexpr int32_t kNone = -1;
};

/// logits float32 [rows, vocabulary]. <pad>, <s> and tokens of probability 0 are never among the results.
/// On the CPU each row is a function of that row alone, in one pass over it; on CUDA which of several equally probable
/// tokens at the very end of the list is named is the device's choice.
/// Throws Error if a row is not a distribution (NaN or infinite: damaged weights).
BestTokens best_tokens(const torch::Tensor& logits, int64_t count);

/// Draws one token for each row: logits float32 [rows, vocabulary]; uniforms: a number in [0, 1) for each row, of which
/// its token is a function; rules: as of step_scores(). <pad>, <s> and banned tokens are never drawn; kNone where
/// nothing is left. The log-probability is the model's own, over the whole vocabulary and without temperature.
BestTokens draw_tokens(const torch::Tensor& logits, const DecodingConfig& options, std::span<const RowRules> rules,
                       std::span<const double> uniforms);

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
