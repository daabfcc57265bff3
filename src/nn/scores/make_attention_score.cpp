#include "nn/scores/make_attention_score.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "nn/scores/additive.h"
#include "nn/scores/attention_score.h"

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

namespace {

class FoldedScore final : public HeadScores {
 public:
  FoldedScore(const std::string& name, std::shared_ptr<AttentionScore> score)
      : HeadScores("score"), score_(std::move(score)) {
    register_module(name, score_);
  }

  torch::Tensor scores(const torch::Tensor& q, const torch::Tensor& k, int64_t /*first_query*/) override {
    const auto scores = score_->forward(q.flatten(0, 1), score_->prepare(k.flatten(0, 1)));
    return scores.to(q.scalar_type()).unflatten(0, {q.size(0), q.size(1)});
  }

 private:
  std::shared_ptr<AttentionScore> score_;
};

}  // namespace

std::shared_ptr<HeadScores> fold_heads(const std::string& name, std::shared_ptr<AttentionScore> score) {
  return std::make_shared<FoldedScore>(name, std::move(score));
}

std::shared_ptr<HeadScores> make_head_scores(AttentionScoreKind score, int64_t head_dim) {
  if (score == AttentionScoreKind::kScaledDot) return nullptr;
  return fold_heads(name_of(score),
                    make_attention_score(score, {.query = head_dim, .key = head_dim, .inner = head_dim}));
}

}  // namespace nmt
