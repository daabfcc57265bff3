#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "base/process/log.h"
#include "config/config.h"
#include "models/interface/model.h"
#include "nn/ops/initial_values.h"
#include "text/codec/codec.h"
#include "text/words.h"

namespace nmt {

/// What model.init, bias_init, embedding_init, position_init, recurrent_init and attention_init say. Throws Error for
/// an unknown name.
InitialValues initial_values(const ModelConfig& config);

/// Draws the tables [pieces, features] that are defined, one after the other. zero_padding_row: row 0 is zero.
void draw_embeddings(std::initializer_list<torch::Tensor> tables, bool zero_padding_row, const InitialValues& values,
                     at::Generator& generator);

/// Word vectors for one table of embeddings.
struct InitialEmbedding {
  std::string parameter;  ///< its name in the model
  WordVectors vectors;
};

/// Reads model.word_vectors1 and word_vectors2, where they are set, and logs how many pieces they have vectors for.
/// Throws Error as read_word_vectors does.
std::vector<InitialEmbedding> read_initial_embeddings(const ModelConfig& config, const TextCodec& codec, Logger& log);

/// Writes them over the embeddings of a new model; pieces without a vector keep what they have.
void set_initial_embeddings(TranslationModel& model, const std::vector<InitialEmbedding>& embeddings);

}  // namespace nmt
