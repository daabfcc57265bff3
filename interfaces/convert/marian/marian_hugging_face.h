#pragma once

#include <filesystem>

#include "convert/marian/marian_folder.h"

namespace nmt::convert {

/// MarianMT of Hugging Face transformers: config.json, model.safetensors or pytorch_model.bin, vocab.json,
/// source.spm, target.spm. Throws Error naming what cannot be represented, or is missing or damaged.
MarianFolder open_hugging_face(const std::filesystem::path& directory);

}  // namespace nmt::convert
