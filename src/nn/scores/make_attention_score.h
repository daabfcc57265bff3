#pragma once

#include <memory>
#include <string>

#include "nn/scores/attention_score.h"

namespace nmt {

/// The score functions by name: scaled_dot, dot, general, additive, cosine, location. Throws Error naming all of them
/// for an unknown one, or for sizes that a score cannot take.
std::shared_ptr<AttentionScore> make_attention_score(const std::string& name, const AttentionScoreOptions& options);

}  // namespace nmt
