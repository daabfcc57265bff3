#include "nn/attention/head_scores.h"

#include <ATen/Parallel.h>
#include <ATen/ops/matmul.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>

#include "nn/device/cpu_kernels.h"
#include "nn/device/device.h"

namespace nmt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

kernels::ScoreShape shape_of(const torch::Tensor& weights, int64_t size) {
  return {kernel_type(weights), weights.size(1), weights.size(2), size};
}

// Runs kernel(range) over the sentences of a batch.
template <typename Kernel>
void for_sentences(const torch::Tensor& weights, int64_t size, Kernel&& kernel) {
  const int64_t work = std::max<int64_t>(1, weights.size(1) * weights.size(2) * size);
  at::parallel_for(0, weights.size(0), std::max<int64_t>(1, 32768 / work), [&](int64_t begin, int64_t end) {
    kernel(kernels::Range{begin, end});
  });
}

torch::Tensor run_dot_scores(const torch::Tensor& queries, const torch::Tensor& keys) {
  auto scores = torch::empty({queries.size(0), queries.size(1), keys.size(1)}, queries.options());
  const auto shape = shape_of(scores, queries.size(2));
  const void *q = queries.const_data_ptr(), *k = keys.const_data_ptr();
  void* out = scores.mutable_data_ptr();
  for_sentences(scores, shape.size,
                [&](kernels::Range range) { kernels::kernels().recurrent.dot_scores(shape, q, k, out, range); });
  return scores;
}

torch::Tensor run_weighted_sums(const torch::Tensor& weights, const torch::Tensor& values) {
  auto sums = torch::empty({weights.size(0), weights.size(1), values.size(2)}, values.options());
  const auto shape = shape_of(weights, values.size(2));
  const void *w = weights.const_data_ptr(), *v = values.const_data_ptr();
  void* out = sums.mutable_data_ptr();
  for_sentences(weights, shape.size,
                [&](kernels::Range range) { kernels::kernels().recurrent.weighted_sums(shape, w, v, out, range); });
  return sums;
}

// sum over t of weights[t, s] queries[t]: [batch, source, size].
torch::Tensor run_sums_of_queries(const torch::Tensor& weights, const torch::Tensor& queries) {
  auto sums = torch::empty({weights.size(0), weights.size(2), queries.size(2)}, queries.options());
  const auto shape = shape_of(weights, queries.size(2));
  const void *w = weights.const_data_ptr(), *q = queries.const_data_ptr();
  void* out = sums.mutable_data_ptr();
  for_sentences(weights, shape.size, [&](kernels::Range range) {
    kernels::kernels().recurrent.weighted_sums_of_queries(shape, w, q, out, range);
  });
  return sums;
}

struct DotScores : torch::autograd::Function<DotScores> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& queries, const torch::Tensor& keys) {
    const auto q = queries.contiguous(), k = keys.contiguous();
    context->save_for_backward({q, k});
    return run_dot_scores(q, k);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto of_scores = gradients[0].contiguous();
    return {run_weighted_sums(of_scores, saved[1]), run_sums_of_queries(of_scores, saved[0])};
  }
};

struct WeightedSums : torch::autograd::Function<WeightedSums> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& weights, const torch::Tensor& values) {
    const auto w = weights.contiguous(), v = values.contiguous();
    context->save_for_backward({w, v});
    return run_weighted_sums(w, v);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto of_sums = gradients[0].contiguous();
    return {run_dot_scores(of_sums, saved[1]), run_sums_of_queries(saved[0], of_sums)};
  }
};

}  // namespace

torch::Tensor dot_scores(const torch::Tensor& queries, const torch::Tensor& keys) {
  if (!has_cpu_kernel(queries)) return torch::matmul(queries, keys.transpose(1, 2));
  return DotScores::apply(queries, keys);
}

torch::Tensor weighted_sums(const torch::Tensor& weights, const torch::Tensor& values) {
  if (!has_cpu_kernel(values)) return torch::matmul(weights, values);
  return WeightedSums::apply(weights, values);
}

torch::Tensor padding_mask(const torch::Tensor& lengths, const torch::Tensor& scores) {
  const auto positions = torch::arange(scores.size(2), torch::TensorOptions(torch::kInt64).device(scores.device()));
  return (positions.unsqueeze(0) >= copy_to_device(lengths, scores.device()).unsqueeze(1)).unsqueeze(1);
}

torch::Tensor softmax_scores(const torch::Tensor& scores, const torch::Tensor& lengths) {
  if (!scores.device().is_cpu() || torch::GradMode::is_enabled()) {
    const auto padding = padding_mask(lengths, scores);
    const auto masked = scores.to(torch::kFloat32).masked_fill(padding, -std::numeric_limits<double>::infinity());
    return torch::softmax(masked, -1).masked_fill(padding, 0.0);  // a source without words: NaN becomes 0
  }
  auto weights = scores.to(torch::kFloat32, /*non_blocking=*/false, /*copy=*/true).contiguous();
  const auto shape = shape_of(weights, 1);
  const int64_t* counts = lengths.const_data_ptr<int64_t>();
  float* out = weights.mutable_data_ptr<float>();
  for_sentences(weights, shape.size,
                [&](kernels::Range range) { kernels::kernels().recurrent.softmax_scores(shape, out, counts, range); });
  return weights;
}

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
