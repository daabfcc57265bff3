#include "config/deep_init.h"

#include <cmath>

namespace nmt {

DeepInit::DeepInit(const ModelConfig& c, Stack stack) : scales_by_depth_(c.deep_init == DeepInitKind::kDepthScaled) {
  if (scales_by_depth_ || c.deep_init == DeepInitKind::kNone) return;
  const auto encoder_blocks = static_cast<double>(c.encoder_blocks.value_or(c.num_blocks));
  const auto decoder_blocks = static_cast<double>(c.decoder_blocks.value_or(c.num_blocks));
  if (stack == Stack::kEncoder) {
    const double depth = std::pow(encoder_blocks, 4) * decoder_blocks;
    residual_weight_ = 0.81 * std::pow(depth, 1.0 / 16);
    branch_gain_ = 0.87 * std::pow(depth, -1.0 / 16);
  } else {
    residual_weight_ = std::pow(3 * decoder_blocks, 1.0 / 4);
    branch_gain_ = std::pow(12 * decoder_blocks, -1.0 / 4);
  }
}

double DeepInit::block_gain(int64_t index) const {
  return scales_by_depth_ ? 1 / std::sqrt(1.0 + static_cast<double>(index)) : 1;
}

}  // namespace nmt
