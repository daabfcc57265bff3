#include "nn/attention/head_scores.h"

#include <ATen/ops/matmul.h>

#include <cmath>

#include "nn/ops/score_products.h"

namespace nmt {
namespace {

// Library products sum in an order that depends on the size of the batch.
bool batch_matters(const torch::Tensor& x) {
  return !torch::GradMode::is_enabled() && x.device().is_cpu() && x.scalar_type() == torch::kFloat32;
}

// [..., rows, columns] for each head of `like`, heads folded into the batch: [batch * heads, rows, columns].
torch::Tensor fold(const torch::Tensor& x, const torch::Tensor& like) {
  return x.expand({like.size(0), like.size(1), x.size(-2), x.size(-1)}).flatten(0, 1);
}

}  // namespace

torch::Tensor head_products(const torch::Tensor& q, const torch::Tensor& k, double scale) {
  if (!batch_matters(q)) return at::matmul(q * scale, k.transpose(-1, -2));
  return dot_scores(fold(q * scale, q), fold(k, q)).unflatten(0, {q.size(0), q.size(1)});
}

torch::Tensor head_sums(const torch::Tensor& weights, const torch::Tensor& values) {
  if (!batch_matters(weights)) return at::matmul(weights, values);
  return weighted_sums(fold(weights, weights), fold(values, weights)).unflatten(0, {weights.size(0), weights.size(1)});
}

torch::Tensor head_softmax(const torch::Tensor& scores, const torch::Tensor& lengths) {
  if (!batch_matters(scores)) return at::softmax(scores, -1);
  const auto counts = lengths.defined() ? lengths : torch::full({scores.size(0)}, scores.size(3), torch::kInt64);
  return softmax_scores(fold(scores, scores), counts.repeat_interleave(scores.size(1)))
      .unflatten(0, {scores.size(0), scores.size(1)});
}

double attention_scale(const torch::Tensor& q) { return 1.0 / std::sqrt(static_cast<double>(q.size(-1))); }

torch::Tensor HeadScores::scores(const torch::Tensor& q, const torch::Tensor& k, int64_t /*first_query*/) {
  return head_products(q, k, attention_scale(q));
}

torch::Tensor HeadScores::context(const torch::Tensor& weights, const torch::Tensor& v, int64_t /*first_query*/) {
  return head_sums(weights, v);
}

}  // namespace nmt
