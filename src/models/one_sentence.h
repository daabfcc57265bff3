#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/interface/model.h"

// What a model makes of one sentence, on plain buffers. Ids are the tokens that it reads, special ones included.
namespace nmt {

/// The mean of the tokens' embeddings: [features]; empty where a model has none.
std::vector<double> mean_source_embedding(TranslationModel& model, std::span<const int64_t> source);
/// The mean of the encoder's outputs for the tokens: [features]; empty where a model has no encoder.
std::vector<double> mean_encoder_output(TranslationModel& model, std::span<const int64_t> source);

}  // namespace nmt
