#pragma once

#include <filesystem>
#include <string>

#include "config/config.h"
#include "models/interface/model.h"
#include "models/interface/safetensors.h"
#include "text/codec/codec.h"

namespace nmt {

/// training.init_from: sets the weights to those of a model directory. Throws Error naming all that does not fit:
/// options of the model that decide what it computes, and what the data were prepared with. training.init_vocabulary:
/// where it maps, the vocabularies may be others, and each row of a table of embeddings or of the output layer begins
/// as the mean of the rows of map_vocabulary()'s pieces; where there are none, of all pieces.
/// Returns what is to be said of it: "the weights start from DIR".
std::string load_initial_weights(TranslationModel& model, const ModelConfig& config, const TextCodec& codec,
                                 const std::filesystem::path& directory,
                                 InitVocabulary vocabulary = InitVocabulary::kSame);

/// training.freeze: parameters whose names match one of the patterns get no gradients from here on; in a pattern, `*`
/// stands for any text and `?` for one character. training.lora_rank: of the others, those that it adapts keep theirs.
/// Returns the parameters with gradients. Throws Error for a pattern that fits no parameter, or if none is left.
NamedTensors freeze(TranslationModel& model, const TrainingConfig& training);

}  // namespace nmt
