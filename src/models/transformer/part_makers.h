#pragma once

#include <functional>
#include <memory>

#include "nn/layers/feed_forward.h"
#include "nn/positions/positions.h"
#include "nn/scores/attention_score.h"

namespace nmt {

/// What makes parts of a Transformer in place of what its configuration names; null: the configuration. So a program
/// can try a part of its own that is not, or not yet, the choice of an option (docs/extending.md).
struct PartMakers {
  std::function<std::shared_ptr<Positions>(const PositionOptions& options)> positions = {};            ///< of each side
  std::function<std::shared_ptr<HeadScores>(const PositionOptions& options)> relative_positions = {};  ///< of a layer
  std::function<std::shared_ptr<AttentionScore>(const AttentionScoreOptions& options)> score = {};     ///< of a layer
  FeedForwardMaker feed_forward = {};                                                                  ///< of a block
};

}  // namespace nmt
