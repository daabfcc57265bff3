#pragma once

#include <filesystem>

#include "convert/plain/plain_model.h"
#include "convert/t5/t5_parts.h"

namespace nmt::convert {

/// A T5 or mT5 directory of Hugging Face transformers as a model of the toolkit: config.json, model.safetensors or
/// pytorch_model.bin, spiece.model. T5 (Raffel et al. 2020) and version 1.1 (gated feed-forward nets, an output layer
/// of its own). Throws Error naming what cannot be represented, or is missing or damaged.
PlainModel read_t5(const std::filesystem::path& directory, const T5Choice& choice);

}  // namespace nmt::convert
