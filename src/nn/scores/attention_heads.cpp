#include "nn/scores/attention_heads.h"

#include "nn/scores/attention_score.h"
#include "nn/scores/make_attention_score.h"

namespace nmt {
namespace {

class FoldedScore final : public HeadScores {
 public:
  FoldedScore(AttentionScoreKind kind, int64_t head_dim)
      : HeadScores("score"),
        score_(make_attention_score(kind, {.query = head_dim, .key = head_dim, .inner = head_dim})) {
    register_module(name_of(kind), score_);
  }

  torch::Tensor scores(const torch::Tensor& q, const torch::Tensor& k, int64_t /*first_query*/) override {
    const auto scores = score_->forward(q.flatten(0, 1), score_->prepare(k.flatten(0, 1)));
    return scores.to(q.scalar_type()).unflatten(0, {q.size(0), q.size(1)});
  }

 private:
  std::shared_ptr<AttentionScore> score_;
};

}  // namespace

std::shared_ptr<HeadScores> make_head_scores(AttentionScoreKind score, int64_t head_dim) {
  return score == AttentionScoreKind::kScaledDot ? nullptr : std::make_shared<FoldedScore>(score, head_dim);
}

}  // namespace nmt
