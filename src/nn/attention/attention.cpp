#include "nn/attention/attention.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>

#include "nn/attention/columns.h"
#include "nn/attention/packed_attention.h"
#include "nn/device/device.h"
#include "nn/device/parallel_ranges.h"
#include "nn/ops/dropout.h"
#include "nn/ops/kernel_support.h"

namespace nmt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kHeadsEach = 16;  // heads of sentences that a thread takes at a time

const int64_t* lengths_of(const torch::Tensor& lengths) {
  return lengths.defined() ? lengths.const_data_ptr<int64_t>() : nullptr;
}

kernels::AttentionShape shape_of(const torch::Tensor& q, const torch::Tensor& k, const AttentionOptions& options,
                                 uint64_t key) {
  const int64_t head_dim = q.size(2) / options.heads;
  return {.batch = q.size(0),
          .heads = options.heads,
          .target = q.size(1),
          .source = k.size(1),
          .head_dim = head_dim,
          .query_stride = q.stride(1),
          .key_stride = k.stride(1),
          .context_stride = q.size(2),
          .target_lengths = lengths_of(options.target_lengths),
          .source_lengths = lengths_of(options.source_lengths),
          .causal = options.causal,
          .scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_dim))),
          .dropout = static_cast<float>(options.dropout),
          .dropout_key = key};
}

// The kernel walks rows by one stride: batches must lie end to end.
torch::Tensor with_row_stride(const torch::Tensor& x) {
  const bool fits = x.stride(2) == 1 && (x.size(0) == 1 || x.stride(0) == x.size(1) * x.stride(1));
  return fits ? x : x.contiguous();
}

struct Attention : torch::autograd::Function<Attention> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& q_in, const torch::Tensor& k_in,
                               const torch::Tensor& v_in, int64_t heads, double dropout, bool causal,
                               const std::optional<torch::Tensor>& target, const std::optional<torch::Tensor>& source,
                               int64_t key) {
    RECORD_FUNCTION("nmt::attention", c10::ArrayRef<const c10::IValue>());
    const auto target_lengths = target.value_or(torch::Tensor()), source_lengths = source.value_or(torch::Tensor());
    const auto q = with_row_stride(q_in);
    auto k = with_row_stride(k_in), v = with_row_stride(v_in);
    if (k.stride(1) != v.stride(1)) k = k.contiguous(), v = v.contiguous();
    const AttentionOptions options{.heads = heads,
                                   .dropout = dropout,
                                   .causal = causal,
                                   .target_lengths = target_lengths,
                                   .source_lengths = source_lengths};
    const auto shape = shape_of(q, k, options, static_cast<uint64_t>(key));
    auto out = torch::empty({q.size(0), q.size(1), q.size(2)}, q.options());
    auto log_sums = torch::empty({q.size(0), heads, q.size(1)}, q.options().dtype(torch::kFloat32));
    const auto type = kernel_type(q);
    const void *q_data = q.const_data_ptr(), *k_data = k.const_data_ptr(), *v_data = v.const_data_ptr();
    void* out_data = out.mutable_data_ptr();
    float* sums = log_sums.mutable_data_ptr<float>();
    parallel_ranges(shape.batch * heads, kHeadsEach, [&](int64_t begin, int64_t end) {
      kernels::kernels().attention(type, shape, q_data, k_data, v_data, out_data, sums, begin, end);
    });
    context->save_for_backward({q, k, v, out, log_sums, target_lengths, source_lengths});
    context->saved_data["heads"] = heads;
    context->saved_data["dropout"] = dropout;
    context->saved_data["causal"] = causal;
    context->saved_data["key"] = key;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    RECORD_FUNCTION("nmt::attention_backward", c10::ArrayRef<const c10::IValue>());
    const auto saved = context->get_saved_variables();
    const auto &q = saved[0], &k = saved[1], &v = saved[2], &out = saved[3], &log_sums = saved[4];
    const AttentionOptions options{.heads = context->saved_data["heads"].toInt(),
                                   .dropout = context->saved_data["dropout"].toDouble(),
                                   .causal = context->saved_data["causal"].toBool(),
                                   .target_lengths = saved[5],
                                   .source_lengths = saved[6]};
    const auto shape = shape_of(q, k, options, static_cast<uint64_t>(context->saved_data["key"].toInt()));
    const auto gradient = gradients[0].contiguous();
    // Side by side as q, k and v are: the gradient of the product that made them is then there without a copy.
    auto parts = new_columns({q, k, v});
    if (!parts[0].is_alias_of(parts[1])) {
      const auto of_kv = new_columns({k, v});
      parts = {parts[0], of_kv[0], of_kv[1]};
    }
    auto &of_q = parts[0], &of_k = parts[1], &of_v = parts[2];
    const kernels::AttentionGradients buffers{.context_gradient = gradient.const_data_ptr(),
                                              .query_gradient = of_q.mutable_data_ptr(),
                                              .key_gradient = of_k.mutable_data_ptr(),
                                              .value_gradient = of_v.mutable_data_ptr(),
                                              .query_gradient_stride = of_q.stride(1),
                                              .key_gradient_stride = of_k.stride(1)};
    const auto type = kernel_type(q);
    const void *q_data = q.const_data_ptr(), *k_data = k.const_data_ptr(), *v_data = v.const_data_ptr();
    const void* out_data = out.const_data_ptr();
    const float* sums = log_sums.const_data_ptr<float>();
    parallel_ranges(shape.batch * shape.heads, kHeadsEach, [&](int64_t begin, int64_t end) {
      kernels::kernels().attention_backward(type, shape, q_data, k_data, v_data, out_data, sums, buffers, begin, end);
    });
    return {of_q, of_k, of_v, {}, {}, {}, {}, {}, {}};
  }
};

// [batch] lengths -> bool [batch, 1, 1, width], true where real.
torch::Tensor real_positions(const torch::Tensor& lengths, int64_t width, torch::Device device) {
  const auto positions = torch::arange(width, torch::TensorOptions(torch::kInt64).device(device));
  return (positions.unsqueeze(0) < copy_to_device(lengths, device).unsqueeze(1)).unsqueeze(1).unsqueeze(1);
}

}  // namespace

torch::Tensor attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                        const AttentionOptions& options, ForwardContext& pass, torch::Tensor* weights) {
  const bool drop = pass.training() && options.dropout > 0;
  const double dropout = drop ? options.dropout : 0.0;
  if (!weights && has_packed_attention(q, options, dropout)) return packed_attention(q, k, v, options, dropout);
  if (!has_cpu_kernel(q) || weights || options.scores || !options.softmax)
    return plain_attention(q, k, v, options, pass, weights);
  return Attention::apply(q, k, v, options.heads, dropout, options.causal, optional_tensor(options.target_lengths),
                          optional_tensor(options.source_lengths), static_cast<int64_t>(drop ? pass.next_key() : 0));
}

torch::Tensor plain_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const AttentionOptions& options, ForwardContext& pass, torch::Tensor* weights) {
  const auto split_heads = [&](const torch::Tensor& x) {
    return x.unflatten(-1, {options.heads, -1}).transpose(1, 2);  // [batch, heads, time, head_dim]
  };
  const auto queries = split_heads(q), keys = split_heads(k), values = split_heads(v);
  auto scores = options.scores
                    ? options.scores->scores(queries, keys, options.first_query)
                    : head_products(queries, keys, attention_scale(queries));  // [batch, heads, target, source]
  const double masked = options.softmax ? -std::numeric_limits<double>::infinity() : 0;
  if (options.source_lengths.defined())
    scores = scores.masked_fill(~real_positions(options.source_lengths, k.size(1), q.device()), masked);
  if (options.causal) {
    const auto future =
        torch::ones({q.size(1), k.size(1)}, torch::TensorOptions(torch::kBool).device(q.device())).triu(1);
    scores = scores.masked_fill(future, masked);
  }
  auto probabilities = !options.softmax ? scores
                       : options.causal ? at::softmax(scores, -1)  // of a whole target: never a step of a search
                                        : head_softmax(scores, options.source_lengths);
  if (weights) *weights = probabilities;
  probabilities = dropout(probabilities, options.dropout, pass);
  auto context = options.scores ? options.scores->context(probabilities, values, options.first_query)
                                : head_sums(probabilities, values);  // [batch, heads, target, head_dim]
  context = context.transpose(1, 2).flatten(2);                      // [batch, target, model]
  if (options.target_lengths.defined()) {
    const auto real = real_positions(options.target_lengths, q.size(1), q.device()).squeeze(1).transpose(1, 2);
    context = context.masked_fill(~real, 0.0);  // [batch, target, 1]
  }
  return context;
}

}  // namespace nmt
