#include "nn/ops/score_products.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>

#include "nn/device/device.h"
#include "nn/ops/kernel_support.h"

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

}  // namespace nmt
