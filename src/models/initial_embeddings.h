#pragma once

#include <string>
#include <vector>

#include "base/process/log.h"
#include "config/config.h"
#include "models/interface/model.h"
#include "text/codec/codec.h"
#include "text/words/word_vectors.h"

namespace nmt {

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
