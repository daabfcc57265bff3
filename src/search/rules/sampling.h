#pragma once

#include <torch/types.h>

#include <span>

#include "config/config.h"
#include "search/rules/best_tokens.h"
#include "search/rules/row_rules.h"

namespace nmt {

/// Draws one token for each row: logits float32 [rows, vocabulary]; uniforms: a number in [0, 1) for each row, of which
/// its token is a function; rules: as of step_scores(). <pad>, <s> and banned tokens are never drawn; kNone where
/// nothing is left. The log-probability is the model's own, over the whole vocabulary and without temperature.
BestTokens draw_tokens(const torch::Tensor& logits, const DecodingConfig& options, std::span<const RowRules> rules,
                       std::span<const double> uniforms);

}  // namespace nmt
