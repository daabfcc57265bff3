#pragma once

#include <filesystem>

#include "convert/plain/plain_model.h"

namespace nmt::convert {

/// A model of Marian as one of the toolkit: a MarianMT directory of Hugging Face transformers, or Marian's own form as
/// OPUS-MT publishes it (an .npz and its decoder.yml). Throws Error naming what cannot be represented, or is missing or
/// damaged.
PlainModel read_marian(const std::filesystem::path& directory);

/// The same of an M2M-100 or NLLB directory of Hugging Face transformers (open_m2m).
PlainModel read_m2m(const std::filesystem::path& directory);

}  // namespace nmt::convert
