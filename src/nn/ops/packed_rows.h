#pragma once

#include <torch/types.h>

namespace nmt {

/// The real tokens of padded sentences, laid end to end.
struct PackedRows {
  torch::Tensor rows;        ///< int64 [tokens]: sentence * width + place, ascending
  torch::Tensor cu_seqlens;  ///< int32 [batch + 1]: sentence b has rows[cu_seqlens[b]] up to rows[cu_seqlens[b + 1]]
  int64_t longest = 0;       ///< tokens of the longest sentence
};

/// lengths int64 [batch] on the CPU, none above `width`, the padded one. Made by the host, so that a GPU is not asked
/// how many tokens there are, and copied to `device` without waiting for it.
PackedRows pack_rows(const torch::Tensor& lengths, int64_t width, torch::Device device);

/// The `rows` of x [all, features]: [tokens, features]. No row may stand there twice: the gradient is copied to its
/// place. That of index_select is added to it, which takes a GPU some two and a half times as long (docs/results.md).
torch::Tensor take_rows(const torch::Tensor& x, const torch::Tensor& rows);

}  // namespace nmt
