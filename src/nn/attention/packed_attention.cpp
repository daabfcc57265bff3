#include "nn/attention/packed_attention.h"

#include <ATen/ops/_efficient_attention_forward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/full.h>

#include <array>
#include <cmath>

#include "nn/device/device_capabilities.h"
#include "nn/ops/packed_rows.h"

namespace nmt {
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
