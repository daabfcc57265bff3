#pragma once

#include <memory>

#include "config/kinds.h"
#include "nn/scores/attention_score.h"

namespace nmt {

/// Throws Error for local and none, which are no score functions, and for sizes that a score cannot take.
std::shared_ptr<AttentionScore> make_attention_score(AttentionScoreKind kind, const AttentionScoreOptions& options);

}  // namespace nmt
