#pragma once

#include <memory>
#include <string>

#include "nn/attention/head_scores.h"

namespace nmt {

/// A score function by its name (make_attention_score) for the heads of one attention layer: heads are folded into the
/// batch, so they share its weights. Null for scaled_dot, which is what attention has without. Throws Error naming all
/// scores for an unknown one.
std::shared_ptr<HeadScores> make_head_scores(const std::string& score, int64_t head_dim);

}  // namespace nmt
