#pragma once

#include <filesystem>

#include "convert/plain/plain_model.h"

namespace nmt::convert {

/// Writes a model directory with matrices in int8 or bfloat16 (is_quantized()) into an existing folder: what
/// nmt-translate makes of the float32 ones with decoding.precision int8 or bf16. Rows are as they are in float32, with
/// a scale for each of int8 beside them (NAME_scale): no processor's order. `source` is the directory that the model is
/// of; its shortlist.bin goes along. Throws Error for weights that are not the model's, or not finite; Stopped.
void write_quantized_model(const std::filesystem::path& directory, const PlainModel& model, Choice<WeightType> type,
                           const std::filesystem::path& source);

}  // namespace nmt::convert
