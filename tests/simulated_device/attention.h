#pragma once

#include <torch/types.h>

#include <optional>
#include <string>

namespace nmt::simulated {

/// Inputs of attention over sentences that are laid end to end.
struct PackedInputs {
  torch::Tensor q, k, v;                        ///< [tokens, heads, head_dim]
  std::optional<torch::Tensor> ends_q, ends_k;  ///< cu_seqlens
  int64_t longest_q = 0, longest_k = 0;
  double dropout = 0;
};

/// What FlashAttention's kernel of LibTorch 2.11 to 2.13 (mha_varlen_fwd, mha_varlen_bwd) asks of its inputs and these
/// do not keep; nullopt: they are right. Nothing of it needs the numbers in the tensors.
std::optional<std::string> flash_attention_error(const PackedInputs& inputs);
/// The same of memory-efficient attention (_efficient_attention_forward and _backward), whose q, k and v are
/// [1, tokens, heads, head_dim].
std::optional<std::string> efficient_attention_error(const PackedInputs& inputs);

}  // namespace nmt::simulated
