#pragma once

#include <initializer_list>

#include "config/config.h"
#include "nn/ops/initial_values.h"

namespace nmt {

/// What model.init, bias_init, embedding_init, position_init, recurrent_init and attention_init say. Throws Error for
/// an unknown name.
InitialValues initial_values(const ModelConfig& config);

/// Draws the tables [pieces, features] that are defined, one after the other. zero_padding_row: row 0 is zero.
void draw_embeddings(std::initializer_list<torch::Tensor> tables, bool zero_padding_row, const InitialValues& values,
                     at::Generator& generator);

}  // namespace nmt
