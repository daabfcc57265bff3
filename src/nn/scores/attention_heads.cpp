#include "nn/scores/attention_heads.h"

#include "nn/scores/attention_score.h"
#include "nn/scores/make_attention_score.h"

namespace nmt {
namespace {

class FoldedScore final : public HeadScores {
 public:
  FoldedScore(const std::string& name, int64_t head_dim)
      : HeadScores("score"),
        score_(make_attention_score(name, {.query = head_dim, .key = head_dim, .inner = head_dim})) {
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

std::shared_ptr<HeadScores> make_head_scores(const std::string& score, int64_t head_dim) {
  return score == "scaled_dot" ? nullptr : std::make_shared<FoldedScore>(score, head_dim);
}

}  // namespace nmt
