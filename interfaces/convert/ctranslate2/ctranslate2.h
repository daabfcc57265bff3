#pragma once

#include <filesystem>
#include <string>

#include "convert/ctranslate2/ctranslate2_file.h"
#include "convert/plain/plain_model.h"

namespace nmt::convert {

/// Why a model cannot go to CTranslate2 ("model.positions: rotary"), or nothing where it can.
std::string ctranslate2_obstacle(const PlainModel& model);

/// CTranslate2's native directory: model.bin, config.json, vocabularies, and the SentencePiece models for the caller.
/// The folder exists. Throws Error naming the obstacle, a weight that is not the model's or not finite, and in float16
/// one that is too large for it.
void write_ctranslate2(const std::filesystem::path& directory, const PlainModel& model, CTranslate2Type type);

}  // namespace nmt::convert
