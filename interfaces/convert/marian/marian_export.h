#pragma once

#include <filesystem>
#include <string>

#include "base/files/strict_json.h"
#include "config/config.h"
#include "convert/plain/plain_model.h"

namespace nmt::convert {

/// Why a model cannot go to Marian ("model.positions: rotary"), or nothing where it can.
std::string marian_obstacle(const PlainModel& model);

/// generation_config.json: a search as transformers has it. Of `decoding` it has beam_size, length_penalty,
/// ban_unknown, no_repeat_ngram_size, repetition_penalty and max_length.
nlohmann::ordered_json marian_generation(const DecodingConfig& decoding);
/// How that search differs from the model's own, in a line; or nothing where the length penalties are one.
std::string marian_warning(const DecodingConfig& decoding);

/// A MarianMT directory for Hugging Face transformers: ids are those of the model, the decoder starts from <s>.
/// Interleaved sinusoids become halves by an exact permutation of the features, a missing output projection of
/// attention the identity. Throws Error naming the obstacle, and CTranslate2 where that is the way.
void write_marian(const std::filesystem::path& directory, const PlainModel& model);

}  // namespace nmt::convert
