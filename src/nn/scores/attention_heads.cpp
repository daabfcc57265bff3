#include "nn/scores/attention_heads.h"

#include <utility>

#include "nn/scores/make_attention_score.h"

namespace nmt {
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
