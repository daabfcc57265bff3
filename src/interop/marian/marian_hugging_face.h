#pragma once

#include <filesystem>

#include "interop/marian/marian_folder.h"

namespace nmt::interop {

/// MarianMT of Hugging Face transformers: config.json, model.safetensors or pytorch_model.bin, vocab.json,
/// source.spm, target.spm. Throws Error naming what cannot be represented, or is missing or damaged.
MarianFolder open_hugging_face(const std::filesystem::path& directory);

}  // namespace nmt::interop
