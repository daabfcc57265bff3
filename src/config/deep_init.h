#pragma once

#include <cstdint>

#include "config/config.h"

namespace nmt {

enum class Stack { kEncoder, kDecoder };

/// model.deep_init of a Transformer, for one of its stacks of N encoder and M decoder blocks. Where it is none, all
/// factors are 1.
class DeepInit {
 public:
  DeepInit(const ModelConfig& config, Stack stack);  ///< throws Error for an unknown name

  /// What a block's residual connections weigh, LN(weight x + sublayer(x)). deepnet (Wang et al. 2022, figure 2):
  /// 0.81 (N^4 M)^(1/16) in the encoder, (3 M)^(1/4) in the decoder.
  double residual_weight() const { return residual_weight_; }
  /// InitialValues::branch_gain. deepnet: 0.87 (N^4 M)^(-1/16) in the encoder, (12 M)^(-1/4) in the decoder.
  double branch_gain() const { return branch_gain_; }
  /// What all initial matrices of a block are multiplied by. depth_scaled (Zhang et al. 2019, eq. 6): l^-0.5, where
  /// `index` is l - 1.
  double block_gain(int64_t index) const;

 private:
  bool scales_by_depth_;
  double residual_weight_ = 1, branch_gain_ = 1;
};

}  // namespace nmt
