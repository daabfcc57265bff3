#include "nn/scores/attention_score.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "nn/device/cpu_kernels.h"

namespace nmt {

void require_equal_sizes(const std::string& name, const AttentionScoreOptions& options) {
  if (options.query != options.key)
    throw Error(fmt::format(
        "attention score {}: queries have {} features, keys {}; use equal sizes, or score general or additive", name,
        options.query, options.key));
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const float* floats_of(const torch::Tensor& x) { return x.defined() ? x.const_data_ptr<float>() : nullptr; }

kernels::AdditiveScores task_of(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& v,
                                const torch::Tensor& coverage, const torch::Tensor& u) {
  return {.shape = {kernel_type(queries), queries.size(1), keys.size(1), queries.size(2)},
          .queries = queries.const_data_ptr(),
          .keys = keys.const_data_ptr(),
          .v = floats_of(v),
          .coverage = floats_of(coverage),
          .u = floats_of(u)};
}

int64_t grain_of(const kernels::ScoreShape& shape) {
  return std::max<int64_t>(1, 8192 / std::max<int64_t>(1, shape.target * shape.source * shape.size));
}

struct AdditiveScores : torch::autograd::Function<AdditiveScores> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& queries_in, const torch::Tensor& keys_in,
                               const torch::Tensor& v, const std::optional<torch::Tensor>& coverage_in,
                               const std::optional<torch::Tensor>& u_in) {
    const auto queries = queries_in.contiguous(), keys = keys_in.contiguous();
    const auto coverage = coverage_in ? coverage_in->contiguous() : torch::Tensor();
    const auto u = u_in.value_or(torch::Tensor());
    auto scores = torch::empty({queries.size(0), queries.size(1), keys.size(1)}, queries.options());
    const auto task = task_of(queries, keys, v, coverage, u);
    void* out = scores.mutable_data_ptr();
    at::parallel_for(0, queries.size(0), grain_of(task.shape), [&](int64_t begin, int64_t end) {
      kernels::kernels().recurrent.additive_scores(task, out, {begin, end});
    });
    context->save_for_backward({queries, keys, v, coverage, u});
    return scores;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &queries = saved[0], &keys = saved[1], &v = saved[2], &coverage = saved[3], &u = saved[4];
    const auto task = task_of(queries, keys, v, coverage, u);
    const auto of_scores = gradients[0].contiguous();
    auto of_queries = torch::empty_like(queries), of_keys = torch::empty_like(keys);
    auto of_v = torch::empty({queries.size(0), task.shape.size}, v.options());  // a row a sentence
    auto of_coverage = coverage.defined() ? torch::empty_like(coverage) : torch::Tensor();
    auto of_u = u.defined() ? torch::empty_like(of_v) : torch::Tensor();
    const kernels::AdditiveGradients buffers{
        .scores = of_scores.const_data_ptr(),
        .queries = of_queries.mutable_data_ptr(),
        .keys = of_keys.mutable_data_ptr(),
        .v = of_v.mutable_data_ptr<float>(),
        .coverage = of_coverage.defined() ? of_coverage.mutable_data_ptr<float>() : nullptr,
        .u = of_u.defined() ? of_u.mutable_data_ptr<float>() : nullptr};
    at::parallel_for(0, queries.size(0), grain_of(task.shape), [&](int64_t begin, int64_t end) {
      kernels::kernels().recurrent.additive_scores_backward(task, buffers, {begin, end});
    });
    const auto of_vector = [](const torch::Tensor& rows, const torch::Tensor& vector) {
      return rows.defined() ? rows.sum(0).view(vector.sizes()) : torch::Tensor();
    };
    return {of_queries, of_keys, of_vector(of_v, v), of_coverage, of_vector(of_u, u)};
  }
};

}  // namespace

torch::Tensor additive_scores(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& v,
                              const torch::Tensor& coverage, const torch::Tensor& u) {
  if (!has_cpu_kernel(queries)) return plain_additive_scores(queries, keys, v, coverage, u);
  return AdditiveScores::apply(queries, keys, v, optional_tensor(coverage), optional_tensor(u));
}

torch::Tensor plain_additive_scores(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& v,
                                    const torch::Tensor& coverage, const torch::Tensor& u) {
  const auto type = queries.scalar_type();
  auto inside = queries.unsqueeze(2) + keys.unsqueeze(1);  // [batch, target, source, inner]
  if (coverage.defined()) inside = inside + (coverage.unsqueeze(-1) * u.flatten()).to(type);
  return torch::matmul(inside.tanh(), v.flatten().to(type));
}

AdditiveScore::AdditiveScore(const AttentionScoreOptions& options)
    : query_(register_module("query", Linear(options.query, options.inner, LinearImpl::Bias::kNo))),
      key_(register_module(
          "key", Linear(options.key, options.inner, options.bias ? LinearImpl::Bias::kYes : LinearImpl::Bias::kNo))) {
  v_ = register_parameter("v", torch::empty({1, options.inner}));
  if (options.coverage) u_ = register_parameter("u", torch::empty({1, options.inner}));
}

void AdditiveScore::reset_parameters(const InitialValues& values, at::Generator& generator) {
  values.score_vectors.draw(v_, generator);
  if (u_.defined()) values.scores.draw(u_, generator);
}

torch::Tensor AdditiveScore::forward(const torch::Tensor& query, const torch::Tensor& prepared,
                                     const torch::Tensor& coverage) {
  return additive_scores(query_(query), prepared, v_, coverage, coverage.defined() ? u_ : torch::Tensor());
}

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
