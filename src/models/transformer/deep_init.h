#pragma once

#include <string>

#include "config/config.h"

namespace nmt {

enum class Stack { kEncoder, kDecoder };

/// model.deep_init of a Transformer: what a block's residual connections weigh, LN(weight x + sublayer(x)). 1 unless it
/// is deepnet (Wang et al. 2022, figure 2, with N encoder and M decoder blocks): 0.81 (N^4 M)^(1/16) in the encoder,
/// (3 M)^(1/4) in the decoder.
double residual_weight(const ModelConfig& config, Stack stack);

/// What an initial matrix is multiplied by, by its parameter's name. depth_scaled (Zhang et al. 2019, eq. 6): l^-0.5 in
/// block l = 1, 2, ... deepnet: 0.87 (N^4 M)^(-1/16) in the encoder, (12 M)^(-1/4) in the decoder for feed-forward nets
/// and for the values and outputs of attention. Else 1.
double initial_gain(const std::string& name, const ModelConfig& config);

}  // namespace nmt
