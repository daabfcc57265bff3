#pragma once

#include <memory>
#include <string>

#include "config/kinds.h"
#include "nn/attention/head_scores.h"
#include "nn/scores/attention_score.h"

namespace nmt {

/// Throws Error for local and none, which are no score functions, and for sizes that a score cannot take.
std::shared_ptr<AttentionScore> make_attention_score(AttentionScoreKind kind, const AttentionScoreOptions& options);

/// A score function for the heads of one attention layer: heads are folded into the batch, so they share its weights,
/// whose names begin with `name`.
std::shared_ptr<HeadScores> fold_heads(const std::string& name, std::shared_ptr<AttentionScore> score);

/// That of a kind (make_attention_score). Null for scaled_dot, which is what attention has without.
std::shared_ptr<HeadScores> make_head_scores(AttentionScoreKind score, int64_t head_dim);

}  // namespace nmt
