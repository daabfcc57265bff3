#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "training/packed/packed_operations.h"

namespace nmt {

/// Philox4x32 with 7 rounds (Salmon et al. 2011, section 4.3) of a counter (number, site, 0, 0).
std::array<uint32_t, 4> philox(uint64_t key, uint32_t number, uint32_t site);

/// What the elements of rows are multiplied by: 0, or 1 / (1 - p). first: the number of each row's first element, a
/// multiple of 4; a row's elements follow one another. float64 [rows, columns].
torch::Tensor dropout_factors(uint64_t key, int32_t site, double p, std::span<const int64_t> first, int64_t columns);

/// The kernels' plain twins: LibTorch's operators on the CPU, in float32, in float64 for what is float64. They say what
/// a kernel has to compute: its check at the start of a training compares with them, and tests run whole updates.
class PlainOperations : public PackedOperations {
 public:
  int64_t largest_tile(int64_t head) const override;
  void attention_forward(const PackedAttention& task, const AttentionTiles& tiles, const torch::Tensor& out) override;
  void attention_backward(const PackedAttention& task, const AttentionTiles& tiles, const torch::Tensor& dout,
                          const torch::Tensor& dq, const torch::Tensor& dk, const torch::Tensor& dv) override;
  void rotate(const torch::Tensor& x, const torch::Tensor& angles, const torch::Tensor& positions, int64_t columns,
              double direction) override;
  void residual_norm_forward(const PackedNorm& task, const torch::Tensor& x, const torch::Tensor& r,
                             const torch::Tensor& y, const torch::Tensor& n, const torch::Tensor& statistics) override;
  void residual_norm_backward(const PackedNorm& task, const torch::Tensor& dn, const torch::Tensor& second,
                              SecondGradient which, const torch::Tensor& y, const torch::Tensor& statistics,
                              const torch::Tensor& dx, const torch::Tensor& dr, const torch::Tensor& parts) override;
  void relu_dropout(const torch::Tensor& h, const DropoutPlace& dropout) override;
  void relu_backward(const torch::Tensor& dh, const torch::Tensor& h, double p, const torch::Tensor& parts) override;
  void sum_parts(const torch::Tensor& parts, const torch::Tensor& places, const torch::Tensor& sums) override;
  void smoothed_cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels, int64_t classes,
                              double smoothing, const torch::Tensor& scale, const torch::Tensor& losses) override;
  void paired_cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels, int64_t classes, double smoothing,
                            const torch::Tensor& pair, const torch::Tensor& scale,
                            const torch::Tensor& losses) override;
  void embedding_forward(const torch::Tensor& words, const torch::Tensor& positions, const torch::Tensor& table,
                         const torch::Tensor& position_table, double factor, const DropoutPlace& dropout,
                         const torch::Tensor& out) override;
  void embedding_pieces(const torch::Tensor& dx, const WordGroups& groups, double factor, const DropoutPlace& dropout,
                        const torch::Tensor& dtable, const torch::Tensor& parts) override;
  void embedding_words(const WordGroups& groups, const torch::Tensor& parts, const torch::Tensor& dtable) override;
  void squared_norm(const torch::Tensor& gradient, const torch::Tensor& parts) override;
  void adam_control(const torch::Tensor& parts, const torch::Tensor& betas, const torch::Tensor& steps,
                    const torch::Tensor& control) override;
  void adam(const torch::Tensor& weights, const torch::Tensor& first_moment, const torch::Tensor& second_moment,
            const torch::Tensor& gradient, const torch::Tensor& copy, const torch::Tensor& control,
            const torch::Tensor& options, const torch::Tensor& rate) override;
};

}  // namespace nmt
