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

torch::Tensor run(kernels::AttentionStep step, int64_t rows, HeadCounts heads) {
  auto context =
      torch::empty({rows, heads.query * step.head_dim}, torch::TensorOptions(torch::kFloat32).device(torch::kCPU));
  step.heads = heads.query;
  step.key_value_heads = heads.key_value;
  step.context = context.mutable_data_ptr<float>();
  step.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(step.head_dim)));
  at::parallel_for(0, rows * heads.query, 32, [&](int64_t begin, int64_t end) {
    kernels::kernels().attention_step(step, {begin, end});
  });
  return context;
}

}  // namespace

torch::Tensor attention_step(const torch::Tensor& q, const FixedKeyValues& memory) {
  const int64_t rows = q.size(0), heads = memory.keys.size(1), head_dim = memory.keys.size(3);
  const auto grouped = q.reshape({rows, heads, -1, head_dim});  // [rows, key_value_heads, group, head_dim]
  const double scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
  const auto scores = (at::matmul(grouped, memory.keys.transpose(2, 3)) * scale)
                          .masked_fill(memory.visible.logical_not(), -std::numeric_limits<float>::infinity());
  const auto weights = at::softmax(scores, -1, torch::kFloat32).to(q.scalar_type());
  return at::matmul(weights, memory.values).reshape_as(q);
}

torch::Tensor attention_step(const torch::Tensor& qkv, StepHistory& history, HeadCounts heads, at::ScalarType type) {
  const int64_t rows = qkv.size(0), features = qkv.size(1), head_dim = features / (heads.query + 2 * heads.key_value);
  const int64_t key_at = heads.query * head_dim;
  history.push(qkv.narrow(1, key_at, features - key_at).to(type).contiguous());
  std::vector<int64_t> lengths(rows);
  for (int64_t row = 0; row < rows; ++row) lengths[row] = history.length(row);
  const int64_t longest = rows > 0 ? *std::ranges::max_element(lengths) : 0;
  std::vector<const void*> keys(rows * longest);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t step = 0; step < lengths[row]; ++step) keys[row * longest + step] = history.at(row, step);
  }
  return run({.type = type == torch::kBFloat16 ? kernels::Type::kBfloat16 : kernels::Type::kFloat,
              .head_dim = head_dim,
              .q = qkv.const_data_ptr<float>(),
              .query_stride = features,
              .keys = keys.data(),
              .widest = longest,
              .lengths = lengths.data(),
              .value_offset = heads.key_value * head_dim},
             rows, heads);
}

torch::Tensor attention_step(const torch::Tensor& q_in, std::span<const KeyValues> memories, HeadCounts heads,
                             std::span<const MemoryPlace> memory_of_row) {
  for (const auto& [keys, values] : memories)
    TORCH_CHECK(keys.is_alias_of(values) && keys.strides() == values.strides() && keys.stride(2) == 1,
                "keys and values must be slices of one tensor");
  const auto q = q_in.contiguous();
  const int64_t rows = q.size(0);
  std::vector<int64_t> lengths(rows);
  for (int64_t row = 0; row < rows; ++row) lengths[row] = memory_of_row[row].length;
  const int64_t longest = rows > 0 ? *std::ranges::max_element(lengths) : 0;
  std::vector<const void*> key_rows(rows * longest);
  for (int64_t row = 0; row < rows; ++row) {
    const auto& keys = memories[memory_of_row[row].group].keys;
    const auto element = static_cast<int64_t>(keys.element_size());
    const auto* key =
        static_cast<const std::byte*>(keys.const_data_ptr()) + memory_of_row[row].index * keys.stride(0) * element;
    for (int64_t j = 0; j < lengths[row]; ++j) key_rows[row * longest + j] = key + j * keys.stride(1) * element;
  }
  const auto& [keys, values] = memories.front();
  return run({.type = kernel_type(keys),
              .head_dim = q.size(1) / heads.query,
              .q = q.const_data_ptr<float>(),
              .query_stride = q.size(1),
              .keys = key_rows.data(),
              .widest = longest,
              .lengths = lengths.data(),
              .value_offset = values.storage_offset() - keys.storage_offset()},
             rows, heads);
}

}  // namespace nmt
