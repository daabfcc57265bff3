#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "nn/device/device_kernels.h"
#include "training/packed/packed_operations.h"

namespace nmt {

/// The kernels of kernels/ on the tensors of one device: bfloat16 activations.
class KernelOperations final : public PackedOperations {
 public:
  /// capability: major * 10 + minor. Throws Error below 80.
  KernelOperations(CudaDriver driver, torch::Device device, int capability) : kernels_(driver, device, capability) {}

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

 private:
  using Argument = std::pair<const char*, KernelArgument>;
  /// grid: programs along x and y. Arguments by the names of the kernel's parameters, in any order.
  void launch(const std::string& name, std::array<int64_t, 2> grid, const std::vector<Argument>& arguments);
  /// How many programs of a kernel with such a constant, ROWS or BLOCK, take `count`.
  int64_t programs(const std::string& name, const char* constant, int64_t count) const;

  DeviceKernels kernels_;
};

}  // namespace nmt
