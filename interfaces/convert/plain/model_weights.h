#pragma once

#include <cstdint>
#include <map>
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

/// Names and shapes of the weights of a Transformer with plain attention and absolute positions or those of T5, as the
/// toolkit has them.
std::map<std::string, Shape> transformer_weights(const ModelConfig& config, int64_t source_vocabulary,
                                                 int64_t target_vocabulary);
/// Throws Error naming the first weight that is missing, has another shape, belongs to no part or is not finite. Of a
/// model whose weights are not those of transformer_weights() it knows only how many numbers they have together.
void check_weights(const PlainModel& model);
/// Throws Error where a model that came in cannot be a model directory: for its weights, and for options that no
/// configuration may have.
void check_import(const PlainModel& model);

}  // namespace nmt::convert
