#include "nn/decode/attention_step.h"

#include <ATen/Parallel.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "nn/ops/kernel_support.h"

namespace nmt {
namespace {

// q [rows, n, features]: step has a query for each row and token, in their order.
torch::Tensor run(kernels::AttentionStep step, const torch::Tensor& q, HeadCounts heads) {
  auto context = torch::empty(q.sizes(), torch::TensorOptions(torch::kFloat32).device(torch::kCPU));
  step.heads = heads.query;
  step.key_value_heads = heads.key_value;
  step.head_dim = q.size(2) / heads.query;
  step.q = q.const_data_ptr<float>();
  step.query_stride = q.size(1) == 1 ? q.stride(0) : q.stride(1);
  step.context = context.mutable_data_ptr<float>();
  step.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(step.head_dim)));
  at::parallel_for(0, q.size(0) * q.size(1) * heads.query, 32, [&](int64_t begin, int64_t end) {
    kernels::kernels().attention_step(step, {begin, end});
  });
  return context;
}

// The kernel walks queries by one stride: rows must lie end to end.
torch::Tensor with_query_stride(const torch::Tensor& q) {
  const bool fits = q.stride(2) == 1 && (q.size(0) == 1 || q.stride(0) == q.size(1) * q.stride(1));
  return fits ? q : q.contiguous();
}

}  // namespace

torch::Tensor repeat_heads(const torch::Tensor& x, HeadCounts heads) {
  if (heads.query == heads.key_value) return x;
  const auto split = x.unflatten(-1, {heads.key_value, 1, -1});  // [batch, time, key_value heads, 1, head_dim]
  return split.expand({-1, -1, -1, heads.query / heads.key_value, -1}).flatten(2);
}

torch::Tensor attention_step(const torch::Tensor& q, const StaticKeyValues& kv) {
  const int64_t rows = q.size(0), heads = kv.keys.size(1), head_dim = kv.keys.size(3);
  const auto grouped = q.reshape({rows, heads, -1, head_dim});  // [rows, key_value_heads, group, head_dim]
  const double scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
  const auto scores = (at::matmul(grouped, kv.keys.transpose(2, 3)) * scale)
                          .masked_fill(kv.visible.logical_not(), -std::numeric_limits<float>::infinity());
  const auto weights = at::softmax(scores, -1, torch::kFloat32).to(q.scalar_type());
  return at::matmul(weights, kv.values).reshape_as(q);
}

torch::Tensor attention_step(const torch::Tensor& q_in, const StepHistory& history, HeadCounts heads) {
  const auto q = with_query_stride(q_in);
  const int64_t rows = q.size(0), tokens = q.size(1);
  std::vector<int64_t> lengths(rows * tokens);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t token = 0; token < tokens; ++token)
      lengths[row * tokens + token] = history.length(row) - (tokens - 1 - token);
  }
  const int64_t longest = lengths.empty() ? 0 : *std::ranges::max_element(lengths);
  std::vector<const void*> keys(rows * tokens * longest);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t token = 0; token < tokens; ++token) {
      const int64_t query = row * tokens + token;
      for (int64_t step = 0; step < lengths[query]; ++step) keys[query * longest + step] = history.at(row, step);
    }
  }
  return run({.type = history.element_size() == 2 ? kernels::Type::kBfloat16 : kernels::Type::kFloat,
              .keys = keys.data(),
              .widest = longest,
              .lengths = lengths.data(),
              .value_offset = heads.key_value * (q.size(2) / heads.query)},
             q, heads);
}

torch::Tensor attention_step(const torch::Tensor& q_in, std::span<const KeyValues> groups, HeadCounts heads,
                             std::span<const SourcePlace> places) {
  for (const auto& [keys, values] : groups)
    TORCH_CHECK(keys.is_alias_of(values) && keys.strides() == values.strides() && keys.stride(2) == 1,
                "keys and values must be slices of one tensor");
  const auto q = with_query_stride(q_in);
  const int64_t rows = q.size(0), tokens = q.size(1);
  std::vector<int64_t> lengths(rows * tokens);
  for (int64_t query = 0; query < rows * tokens; ++query) lengths[query] = places[query / tokens].length;
  const int64_t longest = lengths.empty() ? 0 : *std::ranges::max_element(lengths);
  std::vector<const void*> key_rows(rows * tokens * longest);
  for (int64_t query = 0; query < rows * tokens; ++query) {
    const auto& place = places[query / tokens];
    const auto& keys = groups[place.group].keys;
    const auto element = static_cast<int64_t>(keys.element_size());
    const auto* key = static_cast<const std::byte*>(keys.const_data_ptr()) + place.index * keys.stride(0) * element;
    for (int64_t j = 0; j < lengths[query]; ++j) key_rows[query * longest + j] = key + j * keys.stride(1) * element;
  }
  const auto& [keys, values] = groups.front();
  return run({.type = kernel_type(keys),
              .keys = key_rows.data(),
              .widest = longest,
              .lengths = lengths.data(),
              .value_offset = values.storage_offset() - keys.storage_offset()},
             q, heads);
}

}  // namespace nmt
