#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/plain/plain_model.h"

namespace nmt::convert {

/// What every way out asks first: a Transformer of plain scaled dot-product attention. Empty, or the first option in
/// the way.
std::string plain_transformer_obstacle(const ModelConfig& config);

int64_t encoder_blocks(const ModelConfig& config);
int64_t decoder_blocks(const ModelConfig& config);

/// The table of sinusoidal positions 0 .. count-1 (model.sinusoid), [count, model].
Array sinusoids(Sinusoid form, int64_t count, int64_t model);

/// Keys or values with a head for each query head: groups of heads that share one are written out.
Array repeat_heads(const Array& weight, const ModelConfig& config);

std::vector<std::string> pieces(const Tokenizer& tokenizer);

}  // namespace nmt::convert
