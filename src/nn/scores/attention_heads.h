#pragma once

#include <memory>

#include "config/kinds.h"
#include "nn/attention/head_scores.h"

namespace nmt {

/// A score function (make_attention_score) for the heads of one attention layer: heads are folded into the batch, so
/// they share its weights. Null for scaled_dot, which is what attention has without.
std::shared_ptr<HeadScores> make_head_scores(AttentionScoreKind score, int64_t head_dim);

}  // namespace nmt
