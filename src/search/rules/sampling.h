#pragma once

#include <torch/types.h>

#include <span>

#include "search/rules/best_tokens.h"
#include "search/rules/row_rules.h"
#include "search/rules/search_options.h"

namespace nmt {

/// Draws one token for each row: logits float32 [rows, vocabulary]; uniforms: a number in [0, 1) for each row, of which
/// its token is a function; rules: as of step_scores(). <pad>, <s> and banned tokens are never drawn; kNone where
/// nothing is left. The log-probability is the model's own, over the whole vocabulary and without temperature.
BestTokens draw_tokens(const torch::Tensor& logits, const SamplingOptions& options, std::span<const RowRules> rules,
                       std::span<const double> uniforms);

}  // namespace nmt
