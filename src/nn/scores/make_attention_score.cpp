#include "nn/scores/make_attention_score.h"

#include <fmt/format.h>

#include <functional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "nn/scores/additive.h"
#include "nn/scores/cosine.h"
#include "nn/scores/dot.h"
#include "nn/scores/general.h"
#include "nn/scores/location.h"
#include "nn/scores/scaled_dot.h"

namespace nmt {
namespace {

using Maker = std::function<std::shared_ptr<AttentionScore>(const AttentionScoreOptions&)>;

template <typename Score>
Maker maker() {
  return [](const AttentionScoreOptions& options) { return std::make_shared<Score>(options); };
}

// A new score is one file and one line here.
const std::vector<std::pair<std::string, Maker>> kScores = {
    {"scaled_dot", maker<ScaledDotScore>()}, {"dot", maker<DotScore>()},       {"general", maker<GeneralScore>()},
    {"additive", maker<AdditiveScore>()},    {"cosine", maker<CosineScore>()}, {"location", maker<LocationScore>()},
};

}  // namespace

std::shared_ptr<AttentionScore> make_attention_score(const std::string& name, const AttentionScoreOptions& options) {
  std::string names;
  for (const auto& [known, make] : kScores) {
    if (known == name) return make(options);
    names += (names.empty() ? "" : ", ") + known;
  }
  throw Error(fmt::format("attention score '{}' is none of {}", name, names));
}

}  // namespace nmt
