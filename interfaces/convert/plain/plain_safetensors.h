#pragma once

#include <filesystem>
#include <string>

#include "convert/plain/plain_model.h"

namespace nmt::convert {

/// Why a model has no names of torch.nn.Transformer ("model.positions: rotary"), or nothing where it has.
std::string torch_obstacle(const PlainModel& model);

/// model.safetensors with the names of torch.nn.Transformer (encoder.layers.0.self_attn.in_proj_weight, ...), those of
/// the toolkit for embeddings, positions and output layer, and for all of a model that does not fit it; config.json and
/// the tokenizer's files. Throws Error for weights that are not the model's, or not finite.
void write_plain_safetensors(const std::filesystem::path& directory, const PlainModel& model);

}  // namespace nmt::convert
