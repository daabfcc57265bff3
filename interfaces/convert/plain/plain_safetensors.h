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

/// Writes a model directory with matrices in int8 or bfloat16 (is_quantized()) into an existing folder: what
/// nmt-translate makes of the float32 ones with decoding.precision int8 or bf16. Rows are as they are in float32, with
/// a scale for each of int8 beside them (NAME_scale): no processor's order. `source` is the directory that the model is
/// of; its shortlist.bin goes along. Throws Error for weights that are not the model's, or not finite; Stopped.
void write_quantized_model(const std::filesystem::path& directory, const PlainModel& model, Choice<WeightType> type,
                           const std::filesystem::path& source);

}  // namespace nmt::convert
