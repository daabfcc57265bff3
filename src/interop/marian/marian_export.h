#pragma once

#include <filesystem>
#include <string>

#include "interop/plain/plain_model.h"

namespace nmt::interop {

/// Why a model cannot go to Marian ("model.positions: rotary"), or nothing where it can.
std::string marian_obstacle(const PlainModel& model);

/// A MarianMT directory for Hugging Face transformers: ids are those of the model, the decoder starts from <s>.
/// Interleaved sinusoids become halves by an exact permutation of the features, a missing output projection of
/// attention the identity. Throws Error naming the obstacle, and CTranslate2 where that is the way.
void write_marian(const std::filesystem::path& directory, const PlainModel& model);

}  // namespace nmt::interop
