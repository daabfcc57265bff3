#include "nn/scores/make_attention_score.h"

#include <fmt/format.h>

#include "base/error.h"
#include "nn/scores/additive.h"
#include "nn/scores/cosine.h"
#include "nn/scores/dot.h"
#include "nn/scores/general.h"
#include "nn/scores/location.h"
#include "nn/scores/scaled_cosine.h"
#include "nn/scores/scaled_dot.h"

namespace nmt {

std::shared_ptr<AttentionScore> make_attention_score(AttentionScoreKind kind, const AttentionScoreOptions& options) {
  switch (kind) {
    case AttentionScoreKind::kScaledDot:
      return std::make_shared<ScaledDotScore>(options);
    case AttentionScoreKind::kDot:
      return std::make_shared<DotScore>(options);
    case AttentionScoreKind::kGeneral:
      return std::make_shared<GeneralScore>(options);
    case AttentionScoreKind::kAdditive:
      return std::make_shared<AdditiveScore>(options);
    case AttentionScoreKind::kCosine:
      return std::make_shared<CosineScore>(options);
    case AttentionScoreKind::kScaledCosine:
      return std::make_shared<ScaledCosineScore>(options);
    case AttentionScoreKind::kLocation:
      return std::make_shared<LocationScore>(options);
    case AttentionScoreKind::kLocal:
    case AttentionScoreKind::kNone:
      break;
  }
  throw Error(fmt::format("attention score {}: is no score of its own", name_of(kind)));
}

}  // namespace nmt
