#include "nn/attention/attention.h"

#include <ATen/ops/_efficient_attention_forward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "nn/device/cpu_kernels.h"
#include "nn/device/device.h"
#include "nn/ops/forward_context.h"
#include "nn/ops/packed_rows.h"

namespace nmt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The tensor whose neighbouring columns the parts are; undefined where they are none.
torch::Tensor whole_of(const std::vector<torch::Tensor>& parts) {
  const auto& first = parts.front();
  if (!first.defined() || first.dim() == 0) return {};
  int64_t columns = 0;
  for (const auto& part : parts) {
    if (!part.defined() || !part.is_alias_of(first) || part.strides() != first.strides() ||
        part.sizes().slice(0, part.dim() - 1) != first.sizes().slice(0, first.dim() - 1) ||
        part.scalar_type() != first.scalar_type() || part.storage_offset() != first.storage_offset() + columns)
      return {};
    columns += part.size(-1);
  }
  if (first.stride(-1) != 1 || (first.dim() > 1 && first.stride(-2) != columns)) return {};
  auto sizes = first.sizes().vec();
  sizes.back() = columns;
  return first.as_strided(sizes, first.strides());
}

struct SplitColumns : torch::autograd::Function<SplitColumns> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& x, const std::vector<int64_t>& sizes) {
    auto parts = x.split_with_sizes(sizes, -1);
    context->saved_data["sizes"] = sizes;
    return parts;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    auto whole = whole_of(gradients);
    if (whole.defined()) return {whole, {}};
    const auto sizes = context->saved_data["sizes"].toIntVector();
    const auto there = std::ranges::find_if(gradients, [](const auto& part) { return part.defined(); });
    if (there == gradients.end()) return {torch::Tensor(), {}};
    auto like = there->sizes().vec();
    for (size_t i = 0; i < gradients.size(); ++i) {
      like.back() = sizes[i];
      if (!gradients[i].defined()) gradients[i] = torch::zeros(like, there->options());
    }
    return {at::cat(gradients, -1), {}};
  }
};

}  // namespace

std::vector<torch::Tensor> split_columns(const torch::Tensor& x, const std::vector<int64_t>& sizes) {
  return SplitColumns::apply(x, sizes);
}

std::vector<torch::Tensor> new_columns(const std::vector<torch::Tensor>& parts) {
  if (const auto whole = whole_of(parts); parts.size() > 1 && whole.defined()) {
    std::vector<int64_t> sizes;
    for (const auto& part : parts) sizes.push_back(part.size(-1));
    return torch::empty(whole.sizes(), whole.options()).split_with_sizes(sizes, -1);
  }
  std::vector<torch::Tensor> result;
  for (const auto& part : parts) result.push_back(torch::empty(part.sizes(), part.options()));
  return result;
}

namespace {

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

torch::Tensor repeat_heads(const torch::Tensor& x, HeadCounts heads) {
  if (heads.query == heads.key_value) return x;
  const auto split = x.unflatten(-1, {heads.key_value, 1, -1});  // [batch, time, key_value heads, 1, head_dim]
  return split.expand({-1, -1, -1, heads.query / heads.key_value, -1}).flatten(2);
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

namespace {

constexpr int64_t kCausalFromTopLeft = 1;  // the mask types of memory-efficient attention
constexpr int64_t kNoMask = 0;

/// The packed rows of one forward pass: its layers ask for those of the same two sides, one after the other.
class LastPackedRows {
 public:
  const PackedRows& get(const torch::Tensor& lengths, int64_t width, torch::Device device) {
    for (const auto& entry : entries_)
      if (entry.lengths.is_same(lengths) && entry.version == version_of(lengths) && entry.width == width &&
          entry.packed.rows.device() == device)
        return entry.packed;
    auto& entry = entries_[next_];
    next_ = (next_ + 1) % entries_.size();
    // The lengths are kept: no other tensor can be the same as long as they are; written to, they have another version.
    entry = {lengths, version_of(lengths), width, pack_rows(lengths, width, device)};
    return entry.packed;
  }

 private:
  /// One made in inference mode has none, and cannot be written to outside of it.
  static uint32_t version_of(const torch::Tensor& x) { return x.is_inference() ? 0 : x._version(); }

  struct Entry {
    torch::Tensor lengths;
    uint32_t version = 0;
    int64_t width = 0;
    PackedRows packed;
  };
  std::array<Entry, 2> entries_;
  size_t next_ = 0;
};

PackedRows packed_rows(const torch::Tensor& lengths, const torch::Tensor& x) {
  if (!lengths.defined()) return pack_rows(at::full({x.size(0)}, x.size(1), torch::kInt64), x.size(1), x.device());
  thread_local LastPackedRows last;
  return last.get(lengths, x.size(1), x.device());
}

}  // namespace

bool has_packed_attention(const torch::Tensor& q, const AttentionOptions& options, double dropout) {
  const int64_t head_dim = q.size(2) / options.heads;
  if (q.is_cpu() || q.size(1) == 1 || options.scores || !options.softmax || head_dim % 8 != 0 || head_dim > 256)
    return false;
  const auto can = capabilities_of(q.device());
  const auto type = q.scalar_type();
  if (type == torch::kFloat32) return can.efficient_attention && dropout == 0;
  return (type == torch::kBFloat16 || type == torch::kFloat16) && can.flash_attention;
}

torch::Tensor gpu_packed_attention(const PackedHeads& heads) {
  if (heads.q.scalar_type() != torch::kFloat32)
    return std::get<0>(at::_flash_attention_forward(heads.q, heads.k, heads.v, heads.target_cu_seqlens,
                                                    heads.source_cu_seqlens, heads.longest_target, heads.longest_source,
                                                    heads.dropout, heads.causal, /*return_debug_mask=*/false));
  const auto context = std::get<0>(at::_efficient_attention_forward(
      heads.q.unsqueeze(0), heads.k.unsqueeze(0), heads.v.unsqueeze(0), /*bias=*/{}, heads.target_cu_seqlens,
      heads.source_cu_seqlens, heads.longest_target, heads.longest_source, heads.dropout,
      heads.causal ? kCausalFromTopLeft : kNoMask, /*compute_log_sumexp=*/torch::GradMode::is_enabled()));
  return context.squeeze(0);
}

torch::Tensor packed_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                               const AttentionOptions& options, double dropout, const PackedAttentionKernel& kernel) {
  const PackedRows targets = packed_rows(options.target_lengths, q), sources = packed_rows(options.source_lengths, k);
  const auto heads_of = [&](const torch::Tensor& x, const PackedRows& packed) {
    return take_rows(x.flatten(0, 1), packed.rows).unflatten(-1, {options.heads, -1});
  };
  const auto context = kernel({.q = heads_of(q, targets),
                               .k = heads_of(k, sources),
                               .v = heads_of(v, sources),
                               .target_cu_seqlens = targets.cu_seqlens,
                               .source_cu_seqlens = sources.cu_seqlens,
                               .longest_target = targets.longest,
                               .longest_source = sources.longest,
                               .dropout = dropout,
                               .causal = options.causal});
  return q.new_zeros({q.size(0) * q.size(1), q.size(2)})
      .index_copy_(0, targets.rows, context.flatten(1))
      .view({q.size(0), q.size(1), q.size(2)});
}

}  // namespace nmt
