#pragma once

#include <string>

#include "models/interface/model.h"
#include "text/codec/codec.h"

namespace nmt {

/// What two texts were compared by.
enum class ComparedVectors {
  kEmbeddings,     ///< of two words: the mean of their pieces' rows in the source's embedding
  kEncoderOutputs  ///< of sentences: the mean of the encoder's output over the tokens that it reads
};

struct Similarity {
  double cosine = 0;
  ComparedVectors vectors = ComparedVectors::kEmbeddings;
};

/// The cosine of two texts of the source language, as the model sees them: by embeddings where each is one word (no
/// white space within), else by the encoder's outputs. Throws Error for an empty text, one that is longer than the
/// model takes, words that the vocabulary does not have, and a model without such vectors.
Similarity similarity(TranslationModel& model, const TextCodec& codec, const std::string& first,
                      const std::string& second);

/// "cosine of embeddings = 0.873412" with a line end.
std::string similarity_text(const Similarity& similarity);

}  // namespace nmt
